/* sample.h: what the analyses need of the sample of accesses: see sample.c. */
#ifndef HEARTH_CACHE_SAMPLE_H
#define HEARTH_CACHE_SAMPLE_H

#include "base/random.h"
#include "cache/cache.h"

enum { SAMPLE_MOST = 1024, SAMPLE_LEAST = 128 }; /* keys */

/* Halves the keys of the sample. The analyses drop the others at their next access. */
void sample_halve(struct cache_sample *s);

/* Accesses that one to a key of the sample represents. */
static inline uint64_t sample_weight(const struct cache_sample *s) {
    return (s->keys_mask + 1) * s->stretch;
}

/* By what counts must be multiplied to represent all accesses: the last pause is in no burst yet. */
double sample_scale(const struct cache_sample *s);

/* The place of a key in a table. The bits of the hash that select keys are the same in all of them. */
static inline uint32_t sample_slot(uint64_t key) {
    return (uint32_t)(random_mix(key) >> 40);
}

#endif
