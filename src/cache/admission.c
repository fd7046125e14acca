/* admission.c: sampled admission, rule 1 of admission.h, so that a program without reuse does not pay for a cache.
 *
 * Searching for space, evicting and copying cost a few hundred nanoseconds per miss, in vain if no entry is accessed
 * again. Entries are admitted as long as they fit: they may pay off later. When the cache is full, so that each new
 * entry costs an old one, and nothing was reused for a while, admission is sampled: only one key in SHARE is
 * admitted, chosen by hash. Any reuse ends the sampling. A cache that holds nothing (everything is invalidated at
 * each flush) samples without being full.
 *
 * The sample is by key and not by time, so that an admitted key is admitted each time. With one key in SHARE, the same
 * storage covers reuse distances SHARE times as long. Sampling thus detects reuse over distances at which the whole
 * stream would have evicted an entry, and the cache then grows towards it. */
#include "cache/admission.h"

#include "base/compiler.h"
#include "base/random.h"

enum { SHARE = 16, PATIENCE_FACTOR = 4 };

static uint64_t losses(const struct cache *c) {
    return c->count.evictions + c->count.failing;
}

/* Each time that reuse ends a sampling, more misses are required before the next. */
static void admission_note_reuse(struct cache *c) {
    uint64_t patience = c->admission.patience ? c->admission.patience : c->config.admission;
    if (c->admission.sampled && patience < UINT64_MAX / PATIENCE_FACTOR)
        patience *= PATIENCE_FACTOR;
    c->admission = (struct sampled_admission){.reuses = reuses(c), .losses = losses(c), .patience = patience};
}

void admission_note(struct cache *c) {
    if (c->admission.reuses != reuses(c) || !c->admission.patience) {
        admission_note_reuse(c);
        return;
    }
    bool full = losses(c) != c->admission.losses || !c->cached;
    if (++c->admission.misses >= c->admission.patience && full)
        c->admission.sampled = true;
}

void admission_note_room(struct cache *c) {
    c->admission.losses = losses(c);
    c->admission.misses = 0;
}

bool cache_admits(struct cache *c, uint32_t target, uint64_t disp) {
    if (LIKELY(!c->admission.sampled))
        return true;
    if (c->admission.reuses != reuses(c)) {
        admission_note_reuse(c);
        return true;
    }
    return random_mix(disp ^ (uint64_t)target << 48 ^ c->factors[0]) % SHARE == 0;
}
