/* doze.c: sampled admission, so that a program without reuse does not pay for a cache.
 *
 * Searching space, evicting and copying cost a few hundred nanoseconds per miss, in vain if no entry is accessed
 * again. Entries are admitted as long as they fit: they may pay off later. When the cache is full, so that each new
 * entry costs an old one, and nothing was reused for a while, admission is sampled: only one key in SHARE is
 * admitted, chosen by hash. Any reuse ends the sampling. A cache that holds nothing (everything is invalidated at
 * each flush) samples without being full.
 *
 * The sample is by key and not by time, so that an admitted key is admitted each time: with a fraction of the keys,
 * the same storage covers SHARE times the distance. Reuse over distances at which the whole stream would have evicted
 * an entry is detected this way, and the cache then grows towards it. */
#include "cache/doze.h"

enum { SHARE = 16, PATIENCE_FACTOR = 4 };

static uint64_t losses(const struct cache *c) {
    return c->count.evictions + c->count.failing;
}

/* Each time that sampling proved wrong, the next one needs more misses. */
static void note_reuse(struct cache *c) {
    uint64_t patience = c->doze.patience ? c->doze.patience : c->config.doze;
    if (c->doze.asleep && patience < UINT64_MAX / PATIENCE_FACTOR)
        patience *= PATIENCE_FACTOR;
    c->doze = (struct doze){.reuses = reuses(c), .losses = losses(c), .patience = patience};
}

void doze_note(struct cache *c) {
    if (c->doze.reuses != reuses(c) || !c->doze.patience) {
        note_reuse(c);
        return;
    }
    bool full = losses(c) != c->doze.losses || !c->cached;
    if (++c->doze.misses >= c->doze.patience && full)
        c->doze.asleep = true;
}

bool cache_wants(struct cache *c, uint32_t target, uint64_t disp) {
    if (LIKELY(!c->doze.asleep))
        return true;
    if (c->doze.reuses != reuses(c)) {
        note_reuse(c);
        return true;
    }
    return random_mix(disp ^ (uint64_t)target << 48 ^ c->factors[0]) % SHARE == 0;
}
