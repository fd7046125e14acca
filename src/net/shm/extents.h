/* extents.h: free ranges of an address range, first fit. Works on offsets only and touches no memory.
 *
 * Processes that make the same calls in the same order get the same offsets, without communication. Running out of
 * memory must not make them differ. So net_extents_reserve is the only call that can fail, and callers call it before
 * they agree to go on. */
#ifndef HEARTH_NET_EXTENTS_H
#define HEARTH_NET_EXTENTS_H

#include <stddef.h>
#include <stdint.h>

#define EXTENTS_NONE UINT64_MAX

struct extents {
    struct extent {
        uint64_t offset, bytes;
    } * free; /* ascending; no two are adjacent */
    size_t count, room;
    size_t taken; /* ranges in use; there is at most one more free range */
};

/* Initially all of [0, bytes) is free. Returns 0 or -ENOMEM. */
int net_extents_open(struct extents *e, uint64_t bytes);
void net_extents_close(struct extents *e);

/* Allocates memory for the next take, and for giving all taken ranges back in any order. Returns 0 or -ENOMEM. */
int net_extents_reserve(struct extents *e);

/* Takes `bytes` bytes at the lowest possible multiple of `alignment`. Returns their offset, or EXTENTS_NONE. */
uint64_t net_extents_take(struct extents *e, uint64_t bytes, uint64_t alignment);

/* Frees the range. */
void net_extents_give(struct extents *e, uint64_t offset, uint64_t bytes);

#endif
