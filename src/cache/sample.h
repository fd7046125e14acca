/* sample.h: how many keys the analyses of a sample track.
 *
 * The error of an estimate falls with the number of keys; the time that it takes grows with the accesses to them. So a sample
 * begins with all keys, up to SAMPLE_MOST. It is halved when it is full, and after each SAMPLE_ACCESSES accesses to it as long as
 * some SAMPLE_LEAST keys remain. */
#ifndef HEARTH_CACHE_SAMPLE_H
#define HEARTH_CACHE_SAMPLE_H

#include "cache/cache.h"

enum { SAMPLE_MOST = 2048, SAMPLE_LEAST = 512, SAMPLE_ACCESSES = 32768 };

/* Whether to halve a sample of this many keys. seen: accesses to it since it was halved last. */
static inline bool sample_is_large(uint32_t keys, uint64_t seen) {
    return keys == SAMPLE_MOST || (seen >= SAMPLE_ACCESSES && keys >= 2 * SAMPLE_LEAST);
}

#endif
