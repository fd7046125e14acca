/* unit_cache_whatif.c: tests the what-if cache: the hits that a cache would have had, from tags alone. */
#include "base/memory.h"
#include "sample_help.h"
#include "test.h"

static struct cache_whatif *open_estimate(void) {
    struct cache_whatif *e = NULL;
    expect_eq(cache_whatif_open(NULL, &e), 0);
    open_sample();
    return e;
}

static void get(struct cache_whatif *e, uint32_t target, uint64_t disp, uint64_t bytes, uint64_t epoch) {
    uint64_t key;
    if (!sample_follows(target, disp, &key))
        return;
    cache_whatif_get(e, &sample, key, bytes, epoch);
    sample_look();
}

static struct cache_whatif_counts read_and_close(struct cache_whatif *e) {
    struct cache_whatif_counts f;
    cache_whatif_read(e, &sample, &f);
    cache_whatif_close(e);
    return f;
}

TEST(few_keys_are_counted_exactly)
{
    struct cache_whatif *e = open_estimate();
    for (int round = 0; round < 10; round++)
        for (uint64_t i = 0; i < 1000; i++)
            get(e, (uint32_t)(i % 3), 64 * i, 64, (uint64_t)round / 5);
    struct cache_whatif_counts f = read_and_close(e);
    expect_eq(f.gets, 10000);
    expect_eq(f.kept, 9000);
    expect_eq(f.kept_within, 8000);
    expect_eq(f.bytes, 64000);
}

TEST(a_longer_access_is_not_served_and_a_shorter_one_is)
{
    struct cache_whatif *e = open_estimate();
    get(e, 0, 0, 64, 1);
    get(e, 0, 0, 128, 1);
    get(e, 0, 0, 64, 1);
    struct cache_whatif_counts f = read_and_close(e);
    expect_eq(f.kept, 1);
    expect_eq(f.bytes, 128);
}

TEST(a_write_forgets)
{
    struct cache_whatif *e = open_estimate();
    get(e, 0, 8, 64, 1);
    cache_whatif_write(e, 0, 8);
    cache_whatif_write(e, 1, 8); /* never read */
    get(e, 0, 8, 64, 1);
    get(e, 0, 8, 64, 1);
    struct cache_whatif_counts f = read_and_close(e);
    expect_eq(f.kept, 1);
    expect_eq(f.bytes, 64);
}

/* 300 000 keys, each read four times: three of four accesses would hit. */
TEST(many_keys_are_sampled)
{
    struct cache_whatif *e = open_estimate();
    for (int round = 0; round < 4; round++)
        for (uint64_t i = 0; i < 300000; i++)
            get(e, 5, 4096 + 32 * i, 32, (uint64_t)round / 2);
    struct cache_whatif_counts f = read_and_close(e);
    expect_eq(f.gets, 1200000);
    double kept = (double)f.kept / (double)f.gets, within = (double)f.kept_within / (double)f.gets,
           bytes = (double)f.bytes / (300000 * 32.0);
    expect(kept > 0.72 && kept < 0.78);
    expect(within > 0.47 && within < 0.53);
    expect(bytes > 0.9 && bytes < 1.1);
}

/* Eight keys make up two thirds of the accesses: the ratio is right whichever of them are in the sample. */
TEST(hot_keys_do_no_harm)
{
    struct cache_whatif *e = open_estimate();
    for (uint64_t i = 0; i < 100000; i++) {
        get(e, 1, 4096 + 32 * i, 32, 1);
        for (uint64_t k = 0; k < 2; k++)
            get(e, 1, (2 * i + k) % 8, 1, 1);
    }
    struct cache_whatif_counts f = read_and_close(e);
    double kept = (double)f.kept / (double)f.gets;
    expect_eq(f.gets, 300000);
    expect(kept > 0.64 && kept < 0.69);
}

TEST(no_memory_is_an_error)
{
    struct memory_budget budget = {.limit = 4096};
    struct cache_whatif *e;
    expect(cache_whatif_open(&budget, &e) < 0);
    expect_eq(budget.used, 0);
}
