/* storage.h: the data buffer, the pool of descriptors, and the ring of neighbours. */
#ifndef HEARTH_CACHE_STORAGE_H
#define HEARTH_CACHE_STORAGE_H

#include "cache/entry.h"

/* Opens a storage of one free region of this many bytes (a multiple of the cache line), and descriptors for this many
 * entries. */
int storage_open(struct cache *c, uint64_t bytes, uint32_t entries);
void storage_close(struct cache *c);

/* Discards all regions and descriptors: one free region again. Constant time. */
void storage_reset(struct cache *c);

/* Allocates a region of this size, best fit, as a descriptor that the caller turns into an entry. NOTHING if there is
 * none, or no memory for a descriptor. */
uint32_t storage_take(struct cache *c, uint64_t room);
void storage_give(struct cache *c, uint32_t id);

/* Enlarges an entry's region into the free one behind it. Returns 0 or -ENOSPC. */
int storage_stretch(struct cache *c, uint32_t id, uint64_t room);

/* Exchanges the regions of two entries. */
void storage_exchange(struct cache *c, uint32_t a, uint32_t b);

/* Growing adds free storage at the end. Shrinking requires a free end: see storage_beyond. */
int storage_resize(struct cache *c, uint64_t bytes);

/* The last entry that extends beyond this many bytes, or NOTHING. */
uint32_t storage_beyond(const struct cache *c, uint64_t bytes);

#endif
