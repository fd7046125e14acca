/* doze.h: keeping less while nothing is reused. */
#ifndef HEARTH_CACHE_DOZE_H
#define HEARTH_CACHE_DOZE_H

#include "cache/entry.h"

/* A miss is about to be kept. */
void doze_note(struct cache *c);

#endif
