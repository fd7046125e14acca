/* sample.h: keys as those see them who follow only some of them: a hash that is never 0, by whose low bits they are chosen. */
#ifndef HEARTH_CACHE_SAMPLE_H
#define HEARTH_CACHE_SAMPLE_H

#include "cache/cache.h"

static inline uint64_t sample_key(uint32_t target, uint64_t disp) {
    return random_mix(disp ^ (uint64_t)target << 48) | 1ull << 63;
}

#endif
