/* unit_cache_reuse.c: compares the curve of hit ratio against size with simulated caches of that size. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "sample_help.h"
#include "test.h"

enum { KEYS = 40000, LINE = 64 };

static struct cache_reuse *open_reuse(void) {
    struct cache_reuse *r = NULL;
    expect_eq(cache_reuse_open(NULL, &r), 0);
    open_sample();
    return r;
}

static void get(struct cache_reuse *r, uint32_t target, uint64_t disp, uint64_t bytes, uint64_t epoch) {
    uint64_t key;
    if (!sample_follows(target, disp, &key))
        return;
    cache_reuse_get(r, &sample, key, bytes, epoch);
    sample_look();
}

static struct cache_reuse_curve read_and_close(struct cache_reuse *r) {
    struct cache_reuse_curve curve;
    cache_reuse_read(r, &sample, &curve);
    cache_reuse_close(r);
    return curve;
}

static double ratio(const struct cache_reuse_curve *curve, uint64_t bytes) {
    uint64_t hits = 0;
    for (unsigned i = 0; i < CACHE_REUSE_STEPS; i++)
        if (cache_reuse_size(i) <= bytes)
            hits += curve->hits[i];
    return curve->gets ? (double)hits / (double)curve->gets : 0;
}

static bool is_near(double a, double b, double by) {
    if (a < b + by && a > b - by)
        return true;
    printf("%f is not near %f\n", a, b);
    return false;
}

TEST(steps_are_in_order_and_hold_what_they_say)
{
    for (unsigned i = 9; i < 200; i++)
        expect(cache_reuse_size(i) > cache_reuse_size(i - 1));
    struct cache_reuse *r = open_reuse();
    get(r, 0, 0, 100, 1); /* two lines */
    get(r, 0, 0, 100, 1);
    struct cache_reuse_curve curve = read_and_close(r);
    expect_eq(curve.bytes, 2 * LINE);
    expect(ratio(&curve, 2 * LINE) == 0.5);
    expect(ratio(&curve, 2 * LINE - 1) == 0);
}

/* A loop over 100 keys of a line: a cache that holds all of them misses in the first round only, a smaller one
 * always. */
TEST(a_loop_has_one_step)
{
    struct cache_reuse *r = open_reuse();
    for (int round = 0; round < 10; round++)
        for (uint64_t i = 0; i < 100; i++)
            get(r, 3, 1000 * i, 64, 1);
    struct cache_reuse_curve curve = read_and_close(r);
    expect_eq(curve.gets, 1000);
    expect_eq(curve.share, 1);
    expect_eq(curve.bytes, 100 * LINE);
    expect(ratio(&curve, 90 * LINE) == 0);
    expect(ratio(&curve, 112 * LINE) == 0.9); /* sizes are quarters of powers of two */
}

TEST(another_epoch_is_no_reuse_and_neither_is_a_written_key)
{
    struct cache_reuse *r = open_reuse();
    for (uint64_t epoch = 0; epoch < 4; epoch++)
        for (int again = 0; again < 2; again++)
            get(r, 0, 64, 8, epoch);
    cache_reuse_write(r, 0, 64);
    cache_reuse_write(r, 0, 128); /* never read */
    get(r, 0, 64, 8, 3);
    get(r, 0, 64, 8, 3);
    struct cache_reuse_curve curve = read_and_close(r);
    expect_eq(curve.gets, 10);
    expect(ratio(&curve, UINT64_MAX) == 0.5);
}

/* ---- a simulated LRU cache ---- */

struct lru {
    uint64_t room, used;
    uint32_t prev[KEYS + 1], next[KEYS + 1]; /* a ring; its head is KEYS */
    bool there[KEYS];
    bool seen[KEYS];
    uint64_t hits, distinct; /* bytes of the keys seen */
};

static uint64_t bytes_of(uint32_t key) {
    return LINE * (1 + key % 4);
}

static void lru_unlink(struct lru *c, uint32_t key) {
    c->next[c->prev[key]] = c->next[key];
    c->prev[c->next[key]] = c->prev[key];
    c->there[key] = false;
    c->used -= bytes_of(key);
}

static void lru_get(struct lru *c, uint32_t key) {
    if (c->there[key]) {
        c->hits++;
        lru_unlink(c, key);
    }
    while (c->used + bytes_of(key) > c->room)
        lru_unlink(c, c->prev[KEYS]);
    c->distinct += c->seen[key] ? 0 : bytes_of(key);
    c->seen[key] = true;
    c->next[key] = c->next[KEYS];
    c->prev[key] = KEYS;
    c->prev[c->next[key]] = key;
    c->next[KEYS] = key;
    c->there[key] = true;
    c->used += bytes_of(key);
}

/* Two of three draws prefer low keys, so that some are frequent and many rare; every third walks through keys in order. */
static uint32_t draw(struct random *dice, int i) {
    uint32_t n = 1 + random_below(dice, KEYS);
    return i % 3 ? random_below(dice, n) : (uint32_t)i / 3 % 10000;
}

static struct lru *play(uint64_t room, uint64_t seed, int gets, struct cache_reuse *r) {
    struct lru *c = calloc(1, sizeof *c);
    struct random dice;
    c->room = room;
    c->prev[KEYS] = c->next[KEYS] = KEYS;
    random_seed(&dice, seed);
    for (int i = 0; i < gets; i++) {
        uint32_t key = draw(&dice, i);
        lru_get(c, key);
        if (r)
            get(r, key % 5, 4096 + 256ull * key, bytes_of(key), 1);
    }
    return c;
}

/* The sample has some 1250 keys: errors of 0.03 are common. */
TEST(the_curve_is_that_of_caches_played_through)
{
    enum { GETS = 600000 };
    const char *given = getenv("HEARTH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns() % 1000000;
    printf("HEARTH_TEST_SEED=%llu\n", (unsigned long long)seed);
    struct cache_reuse *r = open_reuse();
    struct lru *all = play(1 << 20, seed, GETS, r);
    struct cache_reuse_curve curve = read_and_close(r);
    expect_eq(curve.gets, GETS);
    expect(curve.share > 1);
    expect(is_near((double)curve.bytes / (double)all->distinct, 1, 0.15));
    free(all);
    for (unsigned i = 48; i < 72; i += 2) {
        struct lru *c = play(cache_reuse_size(i), seed, GETS, NULL);
        expect(is_near(ratio(&curve, cache_reuse_size(i)), (double)c->hits / GETS, 0.08));
        free(c);
    }
}

TEST(no_memory_is_an_error)
{
    struct memory_budget budget = {.limit = 4096};
    struct cache_reuse *r;
    expect(cache_reuse_open(&budget, &r) < 0);
    expect_eq(budget.used, 0);
}
