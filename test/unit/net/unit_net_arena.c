/* unit_net_arena.c: tests the buffers of a helper: they do not overlap, and the memory before and after them is not
 * accessible. */
#include "net/rpc/arena.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/* Lets the kernel read the byte, which raises no signal. */
static bool is_readable(const char *byte) {
    int ends[2];
    expect_eq(pipe(ends), 0);
    bool readable = write(ends[1], byte, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

static const struct flow_limits limits = {
    .buffers = 3, .bytes = 192, .pool_buffers = 2, .pool_buffer_bytes = 4096};

TEST(places_do_not_overlap)
{
    struct arena a;
    enum { CLIENTS = 5, HEAD = 64 };
    expect_eq(net_arena_open(&a, &limits, CLIENTS, HEAD), 0);
    unsigned char value = 0;
    for (int round = 0; round < 2; round++, value = 0) { /* first writes all, then checks all */
        for (uint32_t c = 0; c < CLIENTS; c++)
            for (uint32_t own = 0; own < limits.buffers; own++) {
                char *slot = net_arena_slot(&a, c, own);
                char *parts[] = {slot, net_arena_request(&a, slot), net_arena_answer(&a, slot)};
                size_t bytes[] = {HEAD, limits.bytes, limits.bytes};
                for (int i = 0; i < 3; i++, value++) {
                    if (round == 0)
                        memset(parts[i], value, bytes[i]);
                    expect_eq((unsigned char)parts[i][0], value);
                    expect_eq((unsigned char)parts[i][bytes[i] - 1], value);
                }
                expect_eq((uintptr_t)net_arena_request(&a, slot) % 16, 0);
            }
        for (uint32_t i = 0; i < limits.pool_buffers; i++, value++) {
            char *pooled = net_arena_request(&a, net_arena_pool_buffer(&a, i));
            if (round == 0)
                memset(pooled, value, limits.pool_buffer_bytes);
            expect_eq((unsigned char)pooled[0], value);
            expect_eq((unsigned char)pooled[limits.pool_buffer_bytes - 1], value);
        }
    }
    net_arena_close(&a);
}

TEST(guards_on_both_sides)
{
    struct arena a;
    expect_eq(net_arena_open(&a, &limits, 1, 64), 0);
    expect(!is_readable(a.clients - 1));
    expect(is_readable(a.clients));
    expect(is_readable(a.base + a.bytes - (size_t)sysconf(_SC_PAGESIZE) - 1));
    expect(!is_readable(a.base + a.bytes - (size_t)sysconf(_SC_PAGESIZE)));
    net_arena_close(&a);
}

TEST(no_memory_before_it_is_touched)
{
#ifdef __SANITIZE_THREAD__
    enum { CLIENTS = 1000 }; /* the shadow memory leaves little address space */
#else
    enum { CLIENTS = 100000 }; /* 50 GB of address space */
#endif
    struct arena a;
    struct flow_limits large = {.buffers = 4, .bytes = 65536, .pool_buffers = 4, .pool_buffer_bytes = 65536};
    int status = net_arena_open(&a, &large, CLIENTS, 512);
    expect_eq(status, 0);
    if (status)
        return;
    net_arena_slot(&a, CLIENTS - 1, 3)[0] = 1;
    net_arena_close(&a);
    net_arena_close(&a); /* a second time: no effect */
}

TEST(sizes_are_told_beforehand)
{
    struct arena a;
    expect_eq(net_arena_open(&a, &limits, 7, 64), 0);
    expect(net_arena_bytes(&limits, 7, 64) <= a.bytes);
    expect(a.bytes <= net_arena_bytes(&limits, 7, 64) + 3 * (size_t)sysconf(_SC_PAGESIZE));
    net_arena_close(&a);
}

/* The helper's data for each client counts like its buffers. */
TEST(buffers_are_as_large_as_fit)
{
    enum { HEAD = 384, EACH = 700 };
    const uint64_t memory = (uint64_t)16e9 / 20;
    for (uint64_t clients = 1; clients <= 400000; clients = clients * 3 + 1) {
        struct flow_limits l = {.buffers = 4, .pool_buffers = 4, .pool_buffer_bytes = 32768};
        l.bytes = net_arena_fitting(&l, clients, HEAD, EACH, memory);
        net_arena_fit_pool(&l);
        expect(l.bytes % 64 == 0 && l.bytes >= 64 && l.bytes <= 65536 && l.pool_buffer_bytes >= l.bytes);
        uint64_t needed = net_arena_bytes(&l, clients, HEAD) + clients * EACH;
        expect(needed <= memory || l.bytes == 64);
        l.bytes += 64;
        net_arena_fit_pool(&l);
        needed = net_arena_bytes(&l, clients, HEAD) + clients * EACH;
        expect(l.bytes > 65536 || needed > memory);
    }
}
