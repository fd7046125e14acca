/* unit_cache_sample.c: tests the sample of accesses that the analyses follow: how many it follows, and that the estimates of both are near the
 * exact ones, on random traces of few and of many keys.   asan: full */
#include <math.h>

#include "base/clock.h"
#include "base/random.h"
#include "cache/cache.h"
#include "test.h"

enum { LINE = 64, GETS = 2000000 };

/* A trace: which key the i-th get has, and in which epoch it is. */
struct trace {
    const char *name;
    uint32_t keys;
    uint32_t (*key)(struct random *dice, uint32_t keys, uint32_t i);
    uint32_t epoch; /* gets */
};

static uint32_t uniform(struct random *dice, uint32_t keys, uint32_t i) {
    (void)i;
    return random_below(dice, keys);
}

static uint32_t loop(struct random *dice, uint32_t keys, uint32_t i) {
    (void)dice;
    return i % keys;
}

/* Low keys are frequent. */
static uint32_t skewed(struct random *dice, uint32_t keys, uint32_t i) {
    (void)i;
    return random_below(dice, 1 + random_below(dice, 1 + random_below(dice, keys)));
}

static const struct trace traces[] = {
    {"64 keys at random", 64, uniform, GETS},      {"64 keys in a loop", 64, loop, GETS},
    {"300 keys, short epochs", 300, uniform, 400}, {"300 keys in a loop, long epochs", 300, loop, 300000},
    {"5000 keys at random", 5000, uniform, GETS},  {"5000 keys, epochs", 5000, uniform, 20000},
    {"100000 keys, skewed", 100000, skewed, GETS},
};

struct run {
    struct cache_sample sample;
    struct cache_whatif *whatif;
    struct cache_reuse *reuse;
    uint64_t followed;
    double share; /* that may be followed; 0: all */
};

/* The first 1000 are free. */
static bool is_dear(const struct run *r) {
    return r->share > 0 && (double)r->followed > 1000 + r->share * (double)cache_sample_gets(&r->sample);
}

static void follow(struct run *r, uint32_t key, uint64_t epoch) {
    struct cache_sample *s = &r->sample;
    uint64_t disp = 4096 + 256ull * key, hash = cache_sample_key(1, disp);
    if (!cache_sample_takes(s, 1, disp))
        return;
    if (!s->left)
        cache_sample_turn(s, is_dear(r));
    if (hash & s->mask)
        return;
    cache_whatif_get(r->whatif, s, hash, LINE, epoch);
    if (!(hash & s->keys_mask))
        cache_reuse_get(r->reuse, s, hash, LINE, epoch);
    if (++r->followed % CACHE_SAMPLE_LOOK == 0)
        cache_sample_look(s, is_dear(r));
}

struct result {
    struct cache_whatif_counts whatif;
    struct cache_reuse_curve curve;
    uint64_t followed;
};

static struct result play(const struct trace *t, uint64_t seed, double share) {
    struct run r = {.share = share};
    struct result out;
    struct random dice;
    random_seed(&dice, seed);
    cache_sample_open(&r.sample);
    expect_eq(cache_whatif_open(NULL, &r.whatif), 0);
    expect_eq(cache_reuse_open(NULL, &r.reuse), 0);
    for (uint32_t i = 0; i < GETS; i++)
        follow(&r, t->key(&dice, t->keys, i), i / t->epoch);
    cache_whatif_read(r.whatif, &r.sample, &out.whatif);
    cache_reuse_read(r.reuse, &r.sample, &out.curve);
    out.followed = r.followed;
    cache_whatif_close(r.whatif);
    cache_reuse_close(r.reuse);
    return out;
}

/* ---- the exact numbers ---- */

/* An LRU stack of lines, as a Fenwick tree over the times of the last accesses. */
struct exact {
    uint64_t kept, kept_within;
    uint64_t *hits; /* [d]: reuses within an epoch at a distance of d lines */
};

static void fenwick_add(int32_t *sums, uint32_t at, int32_t more) {
    for (uint32_t i = at + 1; i <= GETS; i += i & -i)
        sums[i] += more;
}

static int32_t fenwick_before(const int32_t *sums, uint32_t at) {
    int32_t sum = 0;
    for (uint32_t i = at; i; i &= i - 1)
        sum += sums[i];
    return sum;
}

static struct exact play_exactly(const struct trace *t, uint64_t seed) {
    struct exact out = {.hits = calloc(t->keys + 1, sizeof *out.hits)};
    uint32_t *last = calloc(t->keys, sizeof *last); /* 1 + the time of the last access */
    int32_t *sums = calloc(GETS + 1, sizeof *sums);
    struct random dice;
    random_seed(&dice, seed);
    for (uint32_t i = 0; i < GETS; i++) {
        uint32_t key = t->key(&dice, t->keys, i), before = last[key];
        if (before) {
            uint32_t between = (uint32_t)(fenwick_before(sums, i) - fenwick_before(sums, before));
            bool within = (before - 1) / t->epoch == i / t->epoch;
            out.kept++;
            out.kept_within += within;
            out.hits[between + 1] += within;
            fenwick_add(sums, before - 1, -1);
        }
        fenwick_add(sums, i, 1);
        last[key] = i + 1;
    }
    free(last);
    free(sums);
    return out;
}

static double ratio_at(const struct cache_reuse_curve *c, uint64_t bytes) {
    uint64_t hits = 0;
    for (unsigned i = 0; i < CACHE_REUSE_STEPS && cache_reuse_size(i) <= bytes; i++)
        hits += c->hits[i];
    return (double)hits / (double)c->gets;
}

/* The greatest difference over sizes, each a factor of 2 apart; next to a step a curve may be off by a size. */
static double worst(const struct trace *t, const struct exact *e, const struct cache_reuse_curve *c) {
    double most = 0;
    for (uint64_t lines = 1; lines <= 2 * t->keys; lines *= 2) {
        double low = 0, high = 0;
        for (uint64_t d = 0; d <= t->keys; d++) {
            low += d <= lines * 3 / 4 ? (double)e->hits[d] / GETS : 0;
            high += d <= lines * 4 / 3 ? (double)e->hits[d] / GETS : 0;
        }
        double got = ratio_at(c, lines * LINE);
        double off = got < low ? low - got : got > high ? got - high : 0;
        most = off > most ? off : most;
    }
    return most;
}

/* ---- the tests ---- */

static uint64_t seed_of_today(void) {
    const char *given = getenv("HEARTH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns() % 1000000;
    printf("HEARTH_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

static void compare(const struct trace *t, const struct exact *e, uint64_t seed, double share,
                    double tolerance) {
    struct result r = play(t, seed, share);
    double kept = ((double)r.whatif.kept - (double)e->kept) / GETS,
           within = ((double)r.whatif.kept_within - (double)e->kept_within) / GETS,
           curve = worst(t, e, &r.curve);
    printf("%-32s follows %6.3f %%: kept %+.4f, within epochs %+.4f, curve %.4f\n", t->name,
           100.0 * (double)r.followed / GETS, kept, within, curve);
    expect_eq(r.whatif.gets, GETS);
    expect_eq(r.curve.gets, GETS);
    expect(fabs(kept) < tolerance);
    expect(fabs(within) < tolerance);
    expect(curve < tolerance);
    /* what the first bursts take before the sample is small is bounded */
    expect(share == 0 || (double)r.followed < 60000 + 1.2 * share * GETS);
}

/* Where all accesses may be followed, and where one in a hundred. */
TEST(estimates_are_near_the_exact_numbers)
{
    uint64_t seed = seed_of_today();
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        struct exact e = play_exactly(&traces[i], seed);
        compare(&traces[i], &e, seed, 0, 0.05);
        compare(&traces[i], &e, seed, 0.01, 0.10);
        free(e.hits);
    }
}

TEST(a_sample_that_was_closed_follows_nothing)
{
    struct cache_sample s;
    cache_sample_close(&s);
    for (uint64_t i = 0; i < 1000; i++)
        expect(!cache_sample_takes(&s, 0, 64 * i));
    expect_eq(cache_sample_gets(&s), 1000);
}

/* Nearly each of the first accesses has a new key: not many are followed until one key in hundreds is. */
TEST(new_keys_are_thinned_at_once)
{
    struct run r = {.share = 0.001};
    struct random dice;
    random_seed(&dice, seed_of_today());
    cache_sample_open(&r.sample);
    expect_eq(cache_whatif_open(NULL, &r.whatif), 0);
    expect_eq(cache_reuse_open(NULL, &r.reuse), 0);
    for (uint32_t i = 0; i < 100000; i++)
        follow(&r, uniform(&dice, 50000, i), 0);
    printf("%.0f of 100000 are followed, one key in %.0f\n", (double)r.followed,
           (double)r.sample.keys_mask + 1);
    expect(r.followed < 3000);
    cache_whatif_close(r.whatif);
    cache_reuse_close(r.reuse);
}

/* 64 keys, one access in 1000 affordable: after the first bursts nearly all accesses are in pauses. */
TEST(few_keys_are_followed_in_bursts)
{
    struct result r = play(&traces[0], 1, 0.001);
    printf("%.0f of %d are followed\n", (double)r.followed, GETS);
    expect(r.followed < 12000);
    expect(r.whatif.kept > 0.97 * GETS);
}
