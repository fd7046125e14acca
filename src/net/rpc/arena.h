/* arena.h: the receive buffers of a helper, fixed in size and place when the helper starts, between guard pages.
 *
 *      | guard | client 0: slot, slot ... | client 1: ... | pool buffers | guard |
 *      slot = header | request, S bytes | answer, S bytes          pool buffer = header | pool_buffer_bytes
 *
 * S is the size of a client's own buffers (flow.h).
 *
 * The arena reserves address space for all clients. Memory is committed only when touched: a client that never sends
 * costs address space alone. */
#ifndef HEARTH_NET_ARENA_H
#define HEARTH_NET_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "net/rpc/flow.h"

struct arena {
    char *base, *clients, *pool_buffers;
    size_t bytes; /* including the guard pages */
    size_t header, slot_bytes, client_bytes, pool_buffer_bytes;
    struct flow_limits limits;
};

/* Returns 0, or -ENOMEM after logging an error. `header`: bytes of the header in front of each slot and pool buffer. */
int net_arena_open(struct arena *a, const struct flow_limits *limits, uint32_t clients, size_t header);
void net_arena_close(struct arena *a);

/* The size of the arena when all of it is touched, for `clients` clients. */
uint64_t net_arena_bytes(const struct flow_limits *limits, uint64_t clients, size_t header);

/* The largest S for which the arena plus `each` bytes per client fits into `memory`; the smallest S if none fits. */
uint32_t net_arena_fitting(const struct flow_limits *limits, uint64_t clients, size_t header, size_t each,
                           uint64_t memory);

/* Pool buffers are at least as large as a client's own buffers. */
static inline void net_arena_fit_pool(struct flow_limits *limits) {
    if (limits->pool_buffer_bytes < limits->bytes)
        limits->pool_buffer_bytes = limits->bytes;
}

static inline char *net_arena_slot(const struct arena *a, uint32_t client, uint32_t own) {
    return a->clients + client * a->client_bytes + own * a->slot_bytes;
}
static inline char *net_arena_pool_buffer(const struct arena *a, uint32_t pooled) {
    return a->pool_buffers + pooled * a->pool_buffer_bytes;
}
static inline char *net_arena_request(const struct arena *a, char *slot) {
    return slot + a->header;
}
static inline char *net_arena_answer(const struct arena *a, char *slot) {
    return slot + a->header + a->limits.bytes;
}

#endif
