/* victim.h: who has to go. */
#ifndef HEARTH_CACHE_VICTIM_H
#define HEARTH_CACHE_VICTIM_H

#include "cache/index.h"

/* The CACHED entry of least score in a sample of the index; NOTHING if there is none, or none that has to
 * give way: room is made for the entry `spare`, or if that is NOTHING for a newcomer of the weight c->weight.
 */
uint32_t victim_sample(struct cache *c, uint32_t spare);

/* The same for a newcomer, on an insertion path. */
uint32_t victim_on_route(struct cache *c, const struct route *route);

#endif
