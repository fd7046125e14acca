/* admission.h: decides whether an access gets an entry. The rules, in the order in which they are applied; the first
 * that refuses decides.
 *
 *   1. the key         while nothing is reused, only a sample of the keys is admitted: cache_admits, before the lookup.
 *   2. the generation  the get was issued before the last invalidation, so its data may be stale: admission_is_current.
 *   3. the key again   another get for it is in flight; its entry is PENDING and stays (cache.c).
 *   4. the size        it exceeds the whole storage: admission_fits.
 *   5. the victims     the index has no free path, or the storage no space, and no entry there may be evicted: victim.h.
 *
 * Rules 2 to 5 make the outcome of cache_insert CACHE_FAILING. */
#ifndef HEARTH_CACHE_ADMISSION_H
#define HEARTH_CACHE_ADMISSION_H

#include "cache/entry.h"
#include "tables/shape.h"

/* Call before a miss is inserted: decides whether admission is sampled. */
void admission_note(struct cache *c);
/* The cache has grown, so that new entries cost no old ones for a while. */
void admission_note_room(struct cache *c);

static inline bool admission_is_current(const struct cache *c, const struct shape *shape,
                                        uint64_t generation) {
    return generation == c->generation && shape->bytes;
}

static inline bool admission_fits(const struct cache *c, uint64_t room) {
    return room <= c->storage_bytes;
}

#endif
