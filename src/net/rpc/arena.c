/* arena.c: maps the receive buffers of a helper between guard pages, and chooses their size S. See arena.h. */
#include "net/rpc/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t arena_slot_bytes(const struct flow_limits *l, size_t header) {
    return round_up(header + 2 * (size_t)l->bytes, CACHE_LINE);
}

static size_t pool_buffer_bytes(const struct flow_limits *l, size_t header) {
    return round_up(header + l->pool_buffer_bytes, CACHE_LINE);
}

uint64_t net_arena_bytes(const struct flow_limits *l, uint64_t clients, size_t header) {
    return clients * l->buffers * arena_slot_bytes(l, header) +
           (uint64_t)l->pool_buffers * pool_buffer_bytes(l, header);
}

uint32_t net_arena_fitting(const struct flow_limits *limits, uint64_t clients, size_t header, size_t each,
                           uint64_t memory) {
    enum { LARGEST = 65536, SMALLEST = 64 };
    struct flow_limits l = *limits;
    for (l.bytes = LARGEST; l.bytes > SMALLEST; l.bytes -= 64) {
        l.pool_buffer_bytes = limits->pool_buffer_bytes;
        net_arena_fit_pool(&l);
        if (net_arena_bytes(&l, clients, header) + clients * each <= memory)
            break;
    }
    return l.bytes;
}

int net_arena_open(struct arena *a, const struct flow_limits *l, uint32_t clients, size_t header) {
    size_t guard = page_size(), inner = round_up(net_arena_bytes(l, clients, header), guard);
    *a = (struct arena){.limits = *l, .header = header, .bytes = inner + 2 * guard};
    a->slot_bytes = arena_slot_bytes(l, header);
    a->client_bytes = l->buffers * a->slot_bytes;
    a->pool_buffer_bytes = pool_buffer_bytes(l, header);
    void *base = mmap(NULL, a->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        goto failed;
    if (inner > 0 && mprotect((char *)base + guard, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, a->bytes);
        goto failed;
    }
    a->base = base;
    a->clients = a->base + guard;
    a->pool_buffers = a->clients + clients * a->client_bytes;
    return 0;
failed:
    log_error("helper: no address space for the buffers of %u clients, %zu bytes: %s; set HEARTH_BUFFERS or "
              "HEARTH_BUFFER_SIZE lower",
              clients, a->bytes, strerror(errno));
    a->base = NULL;
    return -ENOMEM;
}

void net_arena_close(struct arena *a) {
    if (a->base)
        munmap(a->base, a->bytes);
    a->base = NULL;
}
