/* arena.h: the memory of a helper into which other nodes send: fixed in size and place when the helper starts,
 * between pages that nobody may touch.
 *
 *      | guard | client 0: slot, slot ... | client 1: ... | spares | guard |
 *      slot = head | request, S bytes | answer, S bytes          spare = head | spare_bytes
 *
 * It is as long as all clients together need, but memory only where it was touched: a client that never speaks
 * costs address space alone. */
#ifndef HEARTH_NET_ARENA_H
#define HEARTH_NET_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "net/flow.h"

struct arena {
    char *base, *clients, *spares;
    size_t bytes; /* with the guards */
    size_t head, slot_bytes, client_bytes, spare_bytes;
    struct flow_limits limits;
};

/* 0, or -ENOMEM after a line. `head`: bytes in front of each slot and spare. */
int arena_open(struct arena *a, const struct flow_limits *limits, uint32_t clients, size_t head);
void arena_close(struct arena *a);

/* What all of this takes at most, for so many clients. */
uint64_t arena_bytes(const struct flow_limits *limits, uint64_t clients, size_t head);

/* The largest S for which that, and `each` more for every client, is within `memory`; the smallest if none is. */
uint32_t arena_fitting(const struct flow_limits *limits, uint64_t clients, size_t head, size_t each,
                       uint64_t memory);

/* Spare buffers are no smaller than the others. */
static inline void arena_fit_spares(struct flow_limits *limits) {
    if (limits->spare_bytes < limits->bytes)
        limits->spare_bytes = limits->bytes;
}

static inline char *arena_slot(const struct arena *a, uint32_t client, uint32_t own) {
    return a->clients + client * a->client_bytes + own * a->slot_bytes;
}
static inline char *arena_spare(const struct arena *a, uint32_t spare) {
    return a->spares + spare * a->spare_bytes;
}
static inline char *arena_request(const struct arena *a, char *slot) {
    return slot + a->head;
}
static inline char *arena_answer(const struct arena *a, char *slot) {
    return slot + a->head + a->limits.bytes;
}

#endif
