/* sampled_admission.h: sampled admission while nothing is reused. */
#ifndef HEARTH_CACHE_SAMPLED_ADMISSION_H
#define HEARTH_CACHE_SAMPLED_ADMISSION_H

#include "cache/entry.h"

/* Call before a miss is inserted. */
void admission_note(struct cache *c);

#endif
