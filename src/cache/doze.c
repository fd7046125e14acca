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

enum { SHARE = 16 };

static uint64_t losses(const struct cache *c) {
    return c->count.evictions + c->count.failing;
}

static void wake(struct cache *c) {
    c->doze = (struct doze){.reuses = reuses(c), .losses = losses(c)};
}

void doze_note(struct cache *c) {
    if (c->doze.reuses != reuses(c)) {
        wake(c);
        return;
    }
    bool full = losses(c) != c->doze.losses || !c->cached;
    if (++c->doze.misses >= c->config.doze && c->config.doze && full)
        c->doze.asleep = true;
}

bool cache_wants(struct cache *c, uint32_t target, uint64_t disp) {
    if (LIKELY(!c->doze.asleep))
        return true;
    if (c->doze.reuses != reuses(c)) {
        wake(c);
        return true;
    }
    return random_mix(disp ^ (uint64_t)target << 48 ^ c->factors[0]) % SHARE == 0;
}
