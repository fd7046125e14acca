/* unit_cache_admission.c: tests that little is kept while nothing is reused. */
#include "test.h"

#include "cache_help.h"

enum { MISSES = 100 };

static void open_dozing(uint64_t bytes) {
    configure(64, bytes);
    config.admission = MISSES;
    expect_eq(cache_open(&config, &cache), 0);
}

/* As a caller does. Returns whether the cache admitted it. */
static bool get(uint64_t key) {
    if (!cache_admits(cache, 0, 64 * key))
        return false;
    if (!hit(0, 64 * key, 64))
        put(0, 64 * key, 64);
    return true;
}

static uint64_t wanted_of(uint64_t first, uint64_t count) {
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < count; i++)
        wanted += get(first + i);
    return wanted;
}

TEST(a_stream_is_kept_at_first_and_then_in_part)
{
    open_dozing(10 * 64);
    expect_eq(wanted_of(0, MISSES), MISSES);
    uint64_t wanted = wanted_of(1000, 10000);
    expect(wanted > 10000 / 32 && wanted < 10000 / 8);
    close_cache();
}

TEST(what_fits_is_kept_whole)
{
    configure(1024, 1000 * 64);
    config.admission = MISSES;
    expect_eq(cache_open(&config, &cache), 0);
    expect_eq(wanted_of(0, 900), 900);
    expect_eq(stats().entries, 900);
    close_cache();
}

TEST(a_key_that_is_kept_is_kept_each_time)
{
    bool first[1000];
    open_dozing(10 * 64);
    wanted_of(100000, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        first[i] = cache_admits(cache, 0, 64 * i);
    for (uint64_t i = 0; i < 1000; i++)
        expect_eq(cache_admits(cache, 0, 64 * i), first[i]);
    close_cache();
}

TEST(a_hit_wakes_it)
{
    uint64_t key = 5000;
    open_dozing(10 * 64);
    wanted_of(0, 1000);
    while (!get(key))
        key++;
    expect(hit(0, 64 * key, 64));
    expect_eq(wanted_of(10000, MISSES / 2), MISSES / 2);
    close_cache();
}

/* The cache is too small for any hit, but the same keys repeat. */
TEST(a_repeated_miss_keeps_it_awake)
{
    open_dozing(10 * 64);
    for (uint64_t i = 0; i < 10000; i++)
        expect(get(i % 40) || i < 40);
    close_cache();
}

TEST(zero_means_never)
{
    configure(64, 10 * 64);
    config.admission = 0;
    expect_eq(cache_open(&config, &cache), 0);
    expect_eq(wanted_of(0, 10000), 10000);
    close_cache();
}
