/* arena.c: maps the receive buffers of a helper between guard pages, and chooses S. See arena.h for the layout. */
#include "net/rpc/arena.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

static size_t page_size(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t slot_bytes(const struct flow_limits *l, size_t head) {
    return round_up(head + 2 * (size_t)l->bytes, CACHE_LINE);
}

static size_t spare_bytes(const struct flow_limits *l, size_t head) {
    return round_up(head + l->spare_bytes, CACHE_LINE);
}

uint64_t arena_bytes(const struct flow_limits *l, uint64_t clients, size_t head) {
    return clients * l->buffers * slot_bytes(l, head) + (uint64_t)l->spares * spare_bytes(l, head);
}

uint32_t arena_fitting(const struct flow_limits *limits, uint64_t clients, size_t head, size_t each,
                       uint64_t memory) {
    enum { LARGEST = 65536, SMALLEST = 64 };
    struct flow_limits l = *limits;
    for (l.bytes = LARGEST; l.bytes > SMALLEST; l.bytes -= 64) {
        l.spare_bytes = limits->spare_bytes;
        arena_fit_spares(&l);
        if (arena_bytes(&l, clients, head) + clients * each <= memory)
            break;
    }
    return l.bytes;
}

int arena_open(struct arena *a, const struct flow_limits *l, uint32_t clients, size_t head) {
    size_t guard = page_size(), inner = round_up(arena_bytes(l, clients, head), guard);
    *a = (struct arena){.limits = *l, .head = head, .bytes = inner + 2 * guard};
    a->slot_bytes = slot_bytes(l, head);
    a->client_bytes = l->buffers * a->slot_bytes;
    a->spare_bytes = spare_bytes(l, head);
    void *base = mmap(NULL, a->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        goto failed;
    if (inner > 0 && mprotect((char *)base + guard, inner, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, a->bytes);
        goto failed;
    }
    a->base = base;
    a->clients = a->base + guard;
    a->spares = a->clients + clients * a->client_bytes;
    return 0;
failed:
    log_error("helper: no address space for the buffers of %u clients, %zu bytes: %s; set HEARTH_BUFFERS or "
              "HEARTH_BUFFER_SIZE lower",
              clients, a->bytes, strerror(errno));
    a->base = NULL;
    return -ENOMEM;
}

void arena_close(struct arena *a) {
    if (a->base)
        munmap(a->base, a->bytes);
    a->base = NULL;
}
