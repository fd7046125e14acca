/* adapt.h: adaptation of the sizes of index and storage. */
#ifndef HEARTH_CACHE_ADAPT_H
#define HEARTH_CACHE_ADAPT_H

#include "base/compiler.h"
#include "cache/index.h"

enum { FEWEST_SLOTS = 4, MOST_SLOTS = 1 << 30, LEAST_STORAGE = CACHE_LINE };

void adapt_start(struct cache *c);

/* Counts a miss of this key. */
void adapt_note_miss(struct cache *c, struct hash h);

#endif
