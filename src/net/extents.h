/* extents.h: free ranges of an address range, first fit. Pure: no memory is touched, only offsets.
 *
 * Processes that make the same calls in the same order get the same offsets, without talking to each other. So that
 * running out of memory cannot make them differ, extents_reserve is the only call that can fail, and is called before
 * they agree to go on. */
#ifndef HEARTH_NET_EXTENTS_H
#define HEARTH_NET_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

#define EXTENTS_NONE UINT64_MAX

struct extents {
    struct extent {
        uint64_t offset, bytes;
    } * free; /* ascending; no two of them touch */
    size_t count, room;
    size_t taken; /* ranges that were taken and not given back: at most one more is free */
};

/* All of [0, bytes) is free. 0 or -ENOMEM. */
int extents_open(struct extents *e, uint64_t bytes);
void extents_close(struct extents *e);

/* Memory for the next take and the next give. 0 or -ENOMEM. */
int extents_reserve(struct extents *e);

/* The lowest offset at a multiple of `alignment` from which `bytes` bytes are free, no longer so; or EXTENTS_NONE. */
uint64_t extents_take(struct extents *e, uint64_t bytes, uint64_t alignment);

/* They are free again. */
void extents_give(struct extents *e, uint64_t offset, uint64_t bytes);

#endif
