/* unit_cache_random.c: runs random operations on random caches against a simple model.
 *
 * The model is the memory of a few targets. It changes only by the process's own writes, which are reported to the cache,
 * and just before an invalidation. So all data that the cache returns must equal the current contents of the model, byte by
 * byte; entries may be missing, but never wrong. For each key the model also records the shape with which it was last
 * inserted, and for each PENDING entry whether it must be invalidated.
 *
 * An episode is one cache of a random configuration. Options: --seconds N, --operations N, --seed N. The seed is
 * printed first. Each episode has its own, and a failure prints the command that replays it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/settings.h"
#include "cache/cache.h"
#include "episodes.h"
#include "fail_memory.h"
#include "tables/shape.h"

enum { TARGETS = 3, WINDOW = 4096, KEYS = 192, MOST_PENDING = 256, MOST_BLOCKS = 6, EPISODE = 20000 };

struct access {
    struct shape shape;
    struct shape_block list[MOST_BLOCKS];
};

struct key {
    uint32_t target;
    uint64_t disp;
    struct access access; /* the last one inserted */
};

struct pending {
    struct key *key;
    struct access access;
    uint32_t id;
    bool doomed;
    uint8_t data[WINDOW]; /* data of the get */
};

struct expected {
    uint64_t lookups, full, partial, waiting, inserts, outcomes[4], invalidations, dropped, extends;
};

static struct random dice;
static uint8_t remote[TARGETS][WINDOW];
static struct key keys[KEYS];
static struct pending pending[MOST_PENDING];
static unsigned pending_count;
static struct cache *cache;
static struct cache_config config;
static struct memory_budget budget;
static struct expected expected;
static uint64_t episode_seed, operation;
static bool lossy; /* a resize of the index may drop or invalidate entries that it cannot place */

static void fail(const char *what, int line) {
    printf("FAIL cache_random %s:%d: not so: %s (operation %llu; replay with --seed %llu --operations 1)\n",
           __FILE__, line, what, (unsigned long long)operation, (unsigned long long)episode_seed);
    exit(1);
}

static uint64_t roll(uint64_t n) {
    return random_below(&dice, (uint32_t)n);
}

static bool chance(unsigned percent) {
    return roll(100) < percent;
}

/* ---- accesses ---- */

static struct access contiguous(const struct key *k) {
    uint64_t most = WINDOW - k->disp < 700 ? WINDOW - k->disp : 700;
    return (struct access){.shape = shape_contiguous(1 + roll(chance(50) ? 1 + roll(most) : most))};
}

/* Equal blocks at equal distances, ascending or descending, within the window. */
static struct access regular(const struct key *k) {
    struct shape s = {.blocks = 2 + roll(5), .block_bytes = 1 + roll(40)};
    s.stride = (int64_t)(s.block_bytes + 1 + roll(100)) * (chance(30) ? -1 : 1);
    int64_t end = (int64_t)k->disp + (int64_t)(s.blocks - 1) * s.stride;
    if (end < 0 || end + (int64_t)s.block_bytes > WINDOW || k->disp + s.block_bytes > WINDOW)
        return contiguous(k);
    s.bytes = s.blocks * s.block_bytes;
    return (struct access){.shape = s};
}

static struct access irregular(const struct key *k) {
    struct access a = {.shape.blocks = 2 + roll(MOST_BLOCKS - 1)};
    for (unsigned i = 0; i < a.shape.blocks; i++) {
        uint64_t at = i ? roll(WINDOW - 64) : k->disp;
        if (i && (int64_t)(at - k->disp) == a.list[i - 1].offset + (int64_t)a.list[i - 1].bytes)
            at++; /* adjacent blocks would merge */
        uint64_t most = WINDOW - at < 64 ? WINDOW - at : 64;
        a.list[i] = (struct shape_block){.offset = (int64_t)at - (int64_t)k->disp, .bytes = 1 + roll(most)};
        a.shape.bytes += a.list[i].bytes;
    }
    a.shape.block_bytes = a.list[0].bytes;
    return a;
}

static struct access random_access(const struct key *k) {
    unsigned kind = (unsigned)roll(10);
    return kind < 7 ? contiguous(k) : kind < 9 ? regular(k) : irregular(k);
}

/* The list is inside the struct and moves with it. */
static const struct shape *shape_in(struct access *a) {
    if (a->shape.blocks > 1 && a->list[0].bytes)
        a->shape.list = a->list;
    return &a->shape;
}

static void read_remote(const struct key *k, struct access *a, uint8_t *packed) {
    const struct shape *s = shape_in(a);
    for (uint64_t i = 0, done = 0; i < s->blocks; i++) {
        struct shape_block b = shape_block_at(s, i);
        memcpy(packed + done, remote[k->target] + (int64_t)k->disp + b.offset, b.bytes);
        done += b.bytes;
    }
}

static bool bytes_meet(const struct key *a, struct access *a_access, const struct key *b,
                       struct access *b_access) {
    static uint8_t touched[WINDOW];
    const struct shape *sa = shape_in(a_access), *sb = shape_in(b_access);
    bool meet = false;
    if (a->target != b->target)
        return false;
    memset(touched, 0, sizeof touched);
    for (uint64_t i = 0; i < sa->blocks; i++) {
        struct shape_block block = shape_block_at(sa, i);
        memset(touched + (int64_t)a->disp + block.offset, 1, block.bytes);
    }
    for (uint64_t i = 0; i < sb->blocks && !meet; i++) {
        struct shape_block block = shape_block_at(sb, i);
        meet = memchr(touched + (int64_t)b->disp + block.offset, 1, block.bytes) != NULL;
    }
    return meet;
}

/* ---- invariants ---- */

/* The first `bytes` packed bytes of the key's entry equal the model. */
static void verify(struct key *k, struct access *a, const void *data, uint64_t bytes) {
    uint8_t now[WINDOW];
    read_remote(k, a, now);
    require(!memcmp(data, now, bytes));
}

static struct pending *pending_under(const struct key *k) {
    for (unsigned i = 0; i < pending_count; i++)
        if (pending[i].key == k && !pending[i].doomed)
            return &pending[i];
    return NULL;
}

static uint32_t lookup(const struct key *k) {
    expected.lookups++;
    return cache_lookup(cache, k->target, k->disp);
}

static void check_all(void) {
    struct cache_stats s;
    require(cache_check(cache) == 0);
    cache_stats(cache, &s);
    require(s.lookups == expected.lookups);
    require(s.full_hits == expected.full && s.partial_hits == expected.partial &&
            s.pending_hits == expected.waiting);
    require(s.direct == expected.outcomes[CACHE_DIRECT] &&
            s.conflicting == expected.outcomes[CACHE_CONFLICTING]);
    require(s.capacity == expected.outcomes[CACHE_CAPACITY] && s.failing == expected.outcomes[CACHE_FAILING]);
    require(s.invalidations == expected.invalidations && s.dropped == expected.dropped);
    require(s.evictions <= config.evictions * (expected.inserts + expected.extends));
    require(s.nonempty <= s.visited);
    require(s.adjustments == s.index_grown + s.index_shrunk + s.storage_grown + s.storage_shrunk);
    require(config.adaptive || !s.adjustments);
    require(budget.used <= budget.limit);
    require(budget.used >= s.storage_bytes + s.metadata_bytes);
    require(budget.used < s.storage_bytes + s.metadata_bytes + 65536);
}

/* ---- operations ---- */

static void insert(struct key *k, struct access *a, uint64_t generation) {
    struct cache_stats before, after;
    uint32_t id = 0;
    bool occupied = pending_under(k) && !lossy;
    if (pending_count == MOST_PENDING)
        return;
    struct pending *p = &pending[pending_count];
    cache_stats(cache, &before);
    enum cache_outcome outcome = cache_insert(cache, k->target, k->disp, shape_in(a), generation, &id);
    cache_stats(cache, &after);
    expected.inserts++;
    expected.outcomes[outcome]++;
    uint64_t evicted = after.evictions - before.evictions;
    require(evicted <= config.evictions);
    require(outcome != CACHE_DIRECT || !evicted);
    require((outcome != CACHE_CAPACITY && outcome != CACHE_CONFLICTING) || evicted);
    require(!occupied || outcome == CACHE_FAILING);
    require(generation == cache_generation(cache) || outcome == CACHE_FAILING);
    if (outcome == CACHE_FAILING)
        return;
    require(cache_state_of(cache, id) == CACHE_PENDING && cache_bytes_of(cache, id) == a->shape.bytes);
    *p = (struct pending){.key = k, .access = *a, .id = id};
    read_remote(k, &p->access, p->data);
    k->access = *a;
    pending_count++;
}

static void hit_cached(struct key *k, uint32_t id, struct access *a) {
    uint64_t bytes = a->shape.bytes, held = cache_bytes_of(cache, id);
    uint64_t covered = cache_covers(cache, id, shape_in(a));
    require(!pending_under(k) || lossy);
    require(held == k->access.shape.bytes && covered <= bytes);
    verify(k, &k->access, cache_data(cache, id), held);
    if (!covered) {
        insert(k, a, cache_generation(cache));
        return;
    }
    verify(k, a, cache_data(cache, id), covered);
    cache_touch(cache, id, bytes);
    *(bytes <= held ? &expected.full : &expected.partial) += 1;
    if (covered == bytes || chance(30))
        return;
    expected.extends++;
    if (cache_extend(cache, id, bytes)) {
        require(cache_bytes_of(cache, id) == held);
        verify(k, &k->access, cache_data(cache, id), held);
        return;
    }
    require(cache_bytes_of(cache, id) == bytes && cache_state_of(cache, id) == CACHE_CACHED);
    verify(k, a, cache_data(cache, id), covered);
    memcpy((char *)cache_data(cache, id) + covered, remote[k->target] + k->disp + covered, bytes - covered);
    k->access = *a;
}

static void hit_pending(struct key *k, uint32_t id, struct access *a) {
    const struct pending *p = pending;
    while (p < pending + pending_count && p->id != id)
        p++;
    require(p < pending + pending_count && p->key == k && !p->doomed);
    require(p == pending_under(k) || lossy);
    if (cache_covers(cache, id, shape_in(a)) == a->shape.bytes) {
        cache_touch(cache, id, a->shape.bytes);
        expected.waiting++;
    } else if (chance(20)) {
        insert(k, a, cache_generation(cache));
    }
}

/* Whether cache_find has seen that there is no entry. Other gets may insert one, also under this key, before this get does. */
static bool is_lacked(struct key *k, struct access *a) {
    if (!cache_lacks(cache, k->target, k->disp))
        return false;
    expected.lookups++;
    require(cache_peek(cache, k->target, k->disp) == CACHE_NONE && (!pending_under(k) || lossy));
    if (chance(10)) {
        struct key *other = chance(50) ? k : &keys[roll(KEYS)];
        struct access b = random_access(other);
        insert(other, &b, cache_generation(cache));
    }
    insert(k, a, cache_generation(cache) - chance(1));
    return true;
}

static void get(void) {
    struct key *k = &keys[roll(chance(50) ? KEYS : KEYS / 8)];
    struct access a = random_access(k);
    if (a.shape.blocks == 1) {
        const void *data = cache_find(cache, k->target, k->disp, a.shape.bytes);
        if (data) {
            verify(k, &a, data, a.shape.bytes);
            expected.lookups++;
            expected.full++;
            return;
        }
        if (chance(70) && is_lacked(k, &a))
            return;
    }
    uint32_t id = lookup(k);
    if (id == CACHE_NONE) {
        require(!pending_under(k) || lossy);
        insert(k, &a, cache_generation(cache) - chance(1));
    } else if (cache_state_of(cache, id) == CACHE_PENDING) {
        hit_pending(k, id, &a);
    } else {
        require(cache_state_of(cache, id) == CACHE_CACHED);
        require(a.shape.blocks != 1 || cache_covers(cache, id, &a.shape) < a.shape.bytes);
        hit_cached(k, id, &a);
    }
}

static void finish(unsigned i) {
    struct pending *p = &pending[i];
    require(cache_state_of(cache, p->id) == CACHE_PENDING);
    if (chance(5)) {
        cache_drop(cache, p->id);
    } else {
        memcpy(cache_data(cache, p->id), p->data, p->access.shape.bytes);
        bool kept = cache_settle(cache, p->id);
        require(!kept || !p->doomed);
        require(kept || p->doomed || lossy);
        if (kept)
            verify(p->key, &p->access, cache_data(cache, p->id), p->access.shape.bytes);
    }
    *p = pending[--pending_count];
}

static void finish_some(void) {
    if (pending_count)
        finish((unsigned)roll(pending_count));
}

static void finish_all(void) {
    while (pending_count)
        finish(pending_count - 1);
}

static void doom_some(void) {
    if (!pending_count)
        return;
    struct pending *p = &pending[roll(pending_count)];
    cache_invalidate_pending(cache, p->id);
    p->doomed = true;
}

static void drop_some(void) {
    struct key *k = &keys[roll(KEYS)];
    uint32_t id = lookup(k);
    if (id == CACHE_NONE || cache_state_of(cache, id) != CACHE_CACHED)
        return;
    if (chance(50))
        cache_drop(cache, id);
    else
        cache_invalidate_pending(cache, id);
    require(lookup(k) == CACHE_NONE);
}

/* An entry is invalidated if and only if it shares a byte with the write. */
static void write_some(void) {
    struct key place = {.target = (uint32_t)roll(TARGETS), .disp = roll(WINDOW)};
    struct access a = random_access(&place);
    bool there[KEYS], meets[KEYS];
    uint64_t count = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        there[i] = lookup(&keys[i]) != CACHE_NONE;
        meets[i] = there[i] && bytes_meet(&keys[i], &keys[i].access, &place, &a);
        count += meets[i];
    }
    for (unsigned i = 0; i < pending_count; i++)
        pending[i].doomed |= bytes_meet(pending[i].key, &pending[i].access, &place, &a);
    for (uint64_t i = 0; i < a.shape.blocks; i++) {
        struct shape_block b = shape_block_at(shape_in(&a), i);
        for (uint64_t j = 0; j < b.bytes; j++)
            remote[place.target][(int64_t)(place.disp + j) + b.offset]++;
    }
    uint64_t dropped = cache_write(cache, place.target, place.disp, shape_in(&a));
    require(dropped == count);
    expected.dropped += dropped;
    for (unsigned i = 0; i < KEYS; i++)
        require((lookup(&keys[i]) != CACHE_NONE) == (there[i] && !meets[i]));
}

static void invalidate(void) {
    if (chance(50))
        finish_all();
    uint64_t generation = cache_generation(cache);
    for (unsigned i = 0; i < 20; i++)
        remote[roll(TARGETS)][roll(WINDOW)]++;
    cache_invalidate(cache);
    expected.invalidations++;
    require(cache_generation(cache) > generation);
    for (unsigned i = 0; i < pending_count; i++)
        pending[i].doomed = true;
    for (unsigned i = 0; i < KEYS; i += 1 + (unsigned)roll(20))
        require(lookup(&keys[i]) == CACHE_NONE);
}

static void operate(void) {
    unsigned n = (unsigned)roll(1000);
    if (n < 750)
        get();
    else if (n < 950)
        finish_some();
    else if (n < 955)
        finish_all();
    else if (n < 965)
        doom_some();
    else if (n < 975)
        drop_some();
    else if (n < 985)
        write_some();
    else if (n < 988)
        invalidate();
    else if (n < 990)
        check_all();
    else
        cache_adapt(cache);
}

/* ---- episodes ---- */

static double between(double low, double high) {
    return low + (high - low) * (double)roll(1000) / 1000;
}

static void choose_config(void) {
    struct settings s;
    settings_defaults(&s);
    cache_config_from(&config, &s);
    config.seed = random_next(&dice);
    config.index_slots = 1 + roll(chance(50) ? 16 : 400);
    config.storage_bytes = 64 + roll(chance(50) ? 4096 : 200000);
    config.score = (enum score)roll(3);
    config.sample = 1 + (unsigned)roll(20);
    config.path = 1 + (unsigned)roll(40);
    config.evictions = (unsigned)roll(4);
    config.adaptive = chance(50);
    config.adapt_interval = 16 + roll(400);
    config.conflict_threshold = between(0, 0.1);
    config.sparse_threshold = between(0, 0.5);
    config.capacity_threshold = between(0, 0.2);
    config.stable_threshold = between(0.1, 1);
    config.free_threshold = between(0, 1);
    config.index_increase = between(1.01, 4);
    config.index_decrease = between(1.01, 4);
    config.memory_increase = between(1.01, 4);
    config.memory_decrease = between(1.01, 4);
    budget = (struct memory_budget){.limit = chance(80) ? 1 << 20 : 40000 + roll(100000)};
    config.budget = &budget;
    lossy = config.adaptive;
}

static void prepare(void) {
    memset(&expected, 0, sizeof expected);
    pending_count = 0;
    for (unsigned i = 0; i < sizeof remote; i++)
        (&remote[0][0])[i] = (uint8_t)random_next(&dice);
    for (unsigned i = 0; i < KEYS; i++) { /* no two keys are equal */
        uint64_t share = WINDOW / (KEYS / TARGETS);
        keys[i] = (struct key){.target = i % TARGETS, .disp = i / TARGETS * share + roll(share)};
    }
}

static uint64_t run_episode(uint64_t seed) {
    episode_seed = seed;
    random_seed(&dice, seed);
    choose_config();
    prepare();
    bool failing = chance(20);
    if (cache_open(&config, &cache)) {
        require(budget.limit < 1 << 20 && budget.used == 0);
        return EPISODE;
    }
    for (operation = 0; operation < EPISODE; operation++) {
        if (failing && chance(1))
            fail_memory_at((unsigned)roll(4));
        operate();
    }
    fail_memory_at(0);
    check_all();
    finish_all();
    check_all();
    cache_close(cache);
    require(budget.used == 0);
    return EPISODE;
}

int main(int argc, char **argv) {
    struct episodes all = {
        .name = "cache_random", .operations = "operations on", .things = "caches", .run = run_episode};
    return episodes_run(all, argc, argv);
}
