/* victim.h: who has to go. */
#ifndef HEARTH_CACHE_VICTIM_H
#define HEARTH_CACHE_VICTIM_H

#include "cache/index.h"

/* The CACHED entry of least score in a sample of the index, never `spare`; NOTHING if there is none. */
uint32_t victim_sample(struct cache *c, uint32_t spare);

/* The CACHED entry of least score on an insertion path, or NOTHING. */
uint32_t victim_on_route(struct cache *c, const struct route *route);

#endif
