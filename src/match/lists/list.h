/* list.h: the state of MATCH_LIST. */
#ifndef HEARTH_MATCH_LIST_H
#define HEARTH_MATCH_LIST_H

#include "match/engine/engine.h"
#include "match/engine/match_pool.h"

struct list_node {
    struct list_node *next, *prev;
    struct key key;
    void *item;
    uint32_t number; /* in the pool, if it is from there */
};

struct list_queue {
    struct list_node *first, *last;
};

struct list {
    struct list_queue posted, unexpected;
    struct match_pool pool; /* if heated */
};

static inline struct list *list_of(const struct match *e) {
    return (struct list *)(uintptr_t)e->state;
}

extern const struct structure list_structure;

#endif
