/* list.h: the state of MATCH_LIST. */
#ifndef HEARTH_MATCH_LIST_H
#define HEARTH_MATCH_LIST_H

#include "match/key.h"
#include "match/match_pool.h"

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

#endif
