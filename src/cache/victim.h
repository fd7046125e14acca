/* victim.h: the choice of a victim for eviction. */
#ifndef HEARTH_CACHE_VICTIM_H
#define HEARTH_CACHE_VICTIM_H

#include "cache/index.h"

/* The CACHED entry of least score in a sample of the index. NOTHING if there is none, or if all score above the entry
 * that needs the space: the entry `spare`, or if that is NOTHING a new entry of weight c->weight. */
uint32_t victim_sample(struct cache *c, uint32_t spare);

/* The same for a new entry, among the entries on an insertion path. */
uint32_t victim_on_route(struct cache *c, const struct route *route);

#endif
