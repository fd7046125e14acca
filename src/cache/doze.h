/* doze.h: sampled admission while nothing is reused. */
#ifndef HEARTH_CACHE_DOZE_H
#define HEARTH_CACHE_DOZE_H

#include "cache/entry.h"

/* Call before a miss is inserted. */
void doze_note(struct cache *c);

#endif
