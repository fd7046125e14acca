/* sample.h: hashed keys for the analyses that track a sample of the keys: never 0; the low bits select the sample. */
#ifndef HEARTH_CACHE_SAMPLE_H
#define HEARTH_CACHE_SAMPLE_H

#include "cache/cache.h"

static inline uint64_t sample_key(uint32_t target, uint64_t disp) {
    return random_mix(disp ^ (uint64_t)target << 48) | 1ull << 63;
}

#endif
