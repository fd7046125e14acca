/* doze.c: a program without reuse should not pay for a cache.
 *
 * Looking for room, evicting and copying cost a few hundred nanoseconds per miss, for nothing if no entry is
 * ever asked for again. What fits is kept in any case: it may pay off later. But when the cache is full, so
 * that each new entry costs an old one, and nothing was reused for a while, it dozes: of all keys it keeps
 * only one in SHARE, chosen by hash. Any reuse wakes it. A cache that holds nothing (all is forgotten at each
 * flush) dozes without being full.
 *
 * By key and not by time, since a key that is kept is then kept each time: with a share of the keys, the same
 * storage reaches back SHARE times as far. Reuse over distances that the whole stream would have washed out
 * of the cache is seen here, and when awake the cache grows towards it. */
#include "cache/doze.h"

enum { SHARE = 16, PATIENCE_FACTOR = 4 };

static uint64_t losses(const struct cache *c) {
    return c->count.evictions + c->count.failing;
}

/* Each time it was wrong to sleep, the next time takes longer to come. */
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
