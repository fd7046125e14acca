/* spans.h: a set of ranges [lo, hi), each in one of several spaces (a target, for example), that finds those which
 * overlap a given range. Adding, removing and clearing take constant time, so that a cache can afford it on every
 * miss.
 *
 * Members are identified by small numbers that the caller chooses (the number of a cache entry). Not thread-safe. */
#ifndef HEARTH_SPANS_H
#define HEARTH_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"

struct spans_node;

enum { SPANS_CLASSES = 64 };

struct spans {
    struct memory nodes, heads;
    uint32_t buckets;
    uint64_t stamp; /* nodes with another stamp are not in the set */
    uint32_t count;
    uint64_t classes; /* bit set: the class has members */
    uint32_t class_count[SPANS_CLASSES];
    uint32_t class_head[SPANS_CLASSES];
};

/* For members 0 .. members - 1. Returns 0, or an error of memory_open. */
int spans_open(struct spans *s, uint32_t members, struct memory_budget *budget);
/* Changes the number of members; those in the set stay. */
int spans_resize(struct spans *s, uint32_t members);
void spans_close(struct spans *s);

/* The id must not be in the set; lo < hi. */
void spans_add(struct spans *s, uint32_t id, uint32_t space, uint64_t lo, uint64_t hi);
/* The id must be in the set. */
void spans_remove(struct spans *s, uint32_t id);
bool spans_has(const struct spans *s, uint32_t id);
void spans_clear(struct spans *s);

/* Calls visit for each member that overlaps. visit may remove that member, and no other. */
typedef void spans_visit(void *arg, uint32_t id);
void spans_overlapping(struct spans *s, uint32_t space, uint64_t lo, uint64_t hi, spans_visit *visit,
                       void *arg);

/* Returns 0 if all invariants hold; walks everything. */
int spans_check(const struct spans *s);

#endif
