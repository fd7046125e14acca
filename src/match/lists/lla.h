/* lla.h: the state of MATCH_LLA. */
#ifndef HEARTH_MATCH_LLA_H
#define HEARTH_MATCH_LLA_H

#include "match/engine/engine.h"
#include "match/engine/match_pool.h"

struct lla_node {
    struct lla_node *next;
    uint32_t prev;       /* its number in the pool */
    uint8_t start, end;  /* of the part in use; its first and last entry are no holes */
    uint8_t wide, spare; /* wide: its entries are wide */
    /* entries follow */
};

struct lla_queue {
    struct lla_node *first, *last;
    uint32_t last_number;
    bool posted;         /* which of the two queues */
    bool wide;           /* new nodes are wide */
    uint8_t capacity[2]; /* entries of a node: narrow, wide */
    struct match_pool pool;
};

struct lla {
    struct lla_queue posted, unexpected;
};

static inline struct lla *lla_of(const struct match *e) {
    return (struct lla *)(uintptr_t)e->state;
}

extern const struct structure lla_structure;

#endif
