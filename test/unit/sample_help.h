/* sample_help.h: the sample of keys that estimates of the cache follow, as a window does it. */
#ifndef HEARTH_TEST_SAMPLE_HELP_H
#define HEARTH_TEST_SAMPLE_HELP_H

#include "cache/cache.h"

static struct cache_sample sample;
static uint64_t followed, affordable; /* accesses; of a million, how many may be followed; 0: all */

static inline void open_sample(void) {
    cache_sample_open(&sample);
    followed = affordable = 0;
}

/* The first 1000 are free. */
static inline bool sample_is_dear(void) {
    return affordable && followed > 1000 + cache_sample_gets(&sample) / 1000000.0 * (double)affordable;
}

/* Whether this access is followed; if so, *key is its key. */
static inline bool sample_follows(uint32_t target, uint64_t disp, uint64_t *key) {
    *key = cache_sample_key(target, disp);
    if (!cache_sample_takes(&sample, target, disp))
        return false;
    if (!sample.left)
        cache_sample_turn(&sample, sample_is_dear());
    return !(*key & sample.mask);
}

/* After an access that was followed. */
static inline void sample_look(void) {
    if (++followed % CACHE_SAMPLE_LOOK == 0)
        cache_sample_look(&sample, sample_is_dear());
}

#endif
