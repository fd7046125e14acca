/* unit_cache_adapt.c: tests that sizes grow and shrink with the program's accesses, and become stable. */
#include "test.h"

#include "base/random.h"
#include "cache_help.h"

static void open_adaptive(uint64_t slots, uint64_t bytes) {
    configure(slots, bytes);
    config.adaptive = true;
    config.sample = 16;
    expect_eq(cache_open(&config, &cache), 0);
}

static uint64_t get(uint64_t key, uint64_t bytes) {
    if (hit(0, 4096 * key, bytes))
        return 1;
    put(0, 4096 * key, bytes);
    return 0;
}

/* Makes this many random gets among this many keys. Returns the hits of the last tenth, in percent. */
static uint64_t run(uint64_t gets, uint64_t keys, uint64_t bytes) {
    struct random dice;
    uint64_t hits = 0;
    random_seed(&dice, gets);
    for (uint64_t i = 0; i < gets; i++) {
        uint64_t one = get(random_below(&dice, (uint32_t)keys), bytes);
        hits += i >= gets - gets / 10 ? one : 0;
        if (i % 64 == 0)
            cache_adapt(cache);
    }
    expect_eq(cache_check(cache), 0);
    return hits * 1000 / gets;
}

TEST(a_small_index_grows_to_the_working_set)
{
    open_adaptive(8, 1 << 20);
    expect(run(20000, 1000, 8) >= 99);
    struct cache_stats s = stats();
    expect(s.index_slots >= 1000 && s.index_slots <= 4096);
    expect(s.index_grown >= 1 && s.index_grown <= 3 && !s.index_shrunk);
    close_cache();
}

static uint64_t misses(void) {
    struct cache_stats s = stats();
    return s.direct + s.conflicting + s.capacity + s.failing;
}

/* From any size: at most a tenth more misses than keys, and at most two steps once every key was read. */
TEST(it_grows_in_few_steps)
{
    static const struct {
        uint64_t slots, bytes;
    } starts[] = {{8, 1 << 20}, {64, 1 << 20}, {100, 1 << 20}, {400, 1 << 20},
                  {4096, 4096}, {4096, 40000}, {4096, 200000}};
    enum { KEYS = 1000 };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        open_adaptive(starts[i].slots, starts[i].bytes);
        run(3 * KEYS, KEYS, 500);
        uint64_t before = stats().adjustments;
        expect(run(20000, KEYS, 500) >= 99);
        expect(misses() <= KEYS + KEYS / 10);
        expect(stats().adjustments - before <= 2);
        expect(stats().adjustments <= 6);
        close_cache();
    }
}

/* 1 % of the gets miss, fewer than the threshold: after a while the storage grows nevertheless. */
TEST(a_storage_that_is_a_little_too_small_grows)
{
    open_adaptive(4096, 990 * 512);
    run(60000, 1000, 500);
    expect(stats().storage_grown >= 1 && stats().storage_bytes >= 1000 * 512);
    expect(misses() <= 1200);
    close_cache();
}

/* A stream beside data that is read again and again: its misses are not repeated. */
TEST(a_stream_beside_reused_data_grows_nothing)
{
    open_adaptive(4096, 600 * 512);
    run(10000, 500, 500);
    uint64_t before = stats().adjustments;
    for (uint64_t i = 0; i < 100000; i++)
        get(i % 100 ? i % 500 : 1000 + i, 500);
    expect(stats().adjustments - before <= 1);
    expect(stats().storage_bytes <= 2 * 600 * 512);
    close_cache();
}

TEST(a_small_storage_grows_to_the_working_set)
{
    open_adaptive(4096, 64);
    expect(run(20000, 1000, 500) >= 99);
    struct cache_stats s = stats();
    expect(s.storage_bytes >= 1000 * 512 && s.storage_bytes <= 4 * 1000 * 512);
    close_cache();
}

TEST(growing_loses_nothing)
{
    open_adaptive(64, 64 * 64);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < 40; i++)
        put(0, 4096 * i, 64);
    for (uint64_t i = 0; i < 256 && !stats().adjustments; i++)
        put(1, 0, 64 * 64 + 1); /* does not fit: requests more storage repeatedly, and evicts nothing */
    expect_eq(stats().adjustments, 1);
    for (uint64_t i = 0; i < 40; i++)
        kept += hit(0, 4096 * i, 64);
    expect_eq(kept, 40);
    close_cache();
}

/* Up to a modest size, which reuse that begins late may need, it grows, in a few steps. */
TEST(a_stream_without_reuse_stays_modest)
{
    static const struct {
        uint64_t slots, bytes, steps;
    } starts[] = {
        {8192, 2 << 20, 0}, {2048, 512 << 10, 2}, {100, 2 << 20, 3}, {8192, 6400, 4}, {10000, 4 << 20, 0}};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        open_adaptive(starts[i].slots, starts[i].bytes);
        for (uint64_t k = 0; k < 100000; k++)
            put(0, 640 * k, 640);
        struct cache_stats s = stats();
        expect(s.adjustments <= starts[i].steps);
        expect(s.index_slots <= 8200 || s.index_slots <= starts[i].slots);
        expect(s.storage_bytes <= 2050 << 10 || s.storage_bytes <= starts[i].bytes);
        close_cache();
    }
}

/* The first gets are all different, as those of a graph's first vertex; then they are read again. */
TEST(what_is_read_before_any_reuse_is_kept)
{
    open_adaptive(64, 4096);
    for (uint64_t i = 0; i < 1500; i++) {
        expect(cache_admits(cache, 0, 4096 * i)); /* growth makes room, so that admission is not sampled */
        get(i, 64);
    }
    for (uint64_t round = 0; round < 20; round++)
        for (uint64_t i = 0; i < 1500; i++)
            get(i, 64);
    expect(misses() <= 1600);
    close_cache();
}

/* Repeated gets in the same order: no hit until nearly all keys fit. */
TEST(a_cycle_far_larger_than_the_cache_is_seen)
{
    static const uint64_t keys[] = {10, 300, 3000, 30000};
    for (int i = 0; i < 4; i++) {
        open_adaptive(16, 1024);
        for (uint64_t n = 0; n < 30 * keys[i] + 10000; n++)
            get(n % keys[i], 64);
        expect(stats().storage_bytes >= keys[i] * 64);
        close_cache();
    }
}

TEST(a_sparse_index_shrinks)
{
    configure(200000, 64 * 64);
    config.adaptive = true;
    config.sample = 16;
    config.capacity_threshold = 1; /* keeps the storage from growing instead */
    expect_eq(cache_open(&config, &cache), 0);
    budget.limit = budget.used; /* shrinking needs no memory */
    run(100000, 1000, 64);
    struct cache_stats s = stats();
    expect(s.index_shrunk >= 1 && s.index_shrunk <= 3);
    expect(s.index_slots >= 128 && s.index_slots <= 2048);
    close_cache();
}

TEST(a_large_storage_shrinks_and_the_working_set_stays)
{
    open_adaptive(4096, 64 << 20);
    expect(run(100000, 500, 1000) >= 99);
    struct cache_stats s = stats();
    expect(s.storage_shrunk >= 1 && s.storage_shrunk <= 3 && !s.storage_grown);
    expect(s.storage_bytes >= 500 * 1024 && s.storage_bytes <= 4 << 20);
    close_cache();
}

TEST(sizes_come_to_rest)
{
    static const uint64_t slots[] = {8, 500, 1 << 17}, bytes[] = {64, 300000, 64 << 20};
    for (int i = 0; i < 9; i++) {
        open_adaptive(slots[i % 3], bytes[i / 3]);
        run(40000, 1000, 300);
        uint64_t before = stats().adjustments;
        expect(run(40000, 1000, 300) >= 98);
        expect(stats().adjustments - before <= 1);
        close_cache();
    }
}

/* Many keys, then few, repeatedly: following each change would never end. The quick tier has half of the rounds. */
TEST(what_comes_and_goes_is_followed_only_for_a_while)
{
    open_adaptive(4096, 1 << 20);
    uint64_t first = 0;
    for (int round = 0; round < (test_is_quick() ? 15 : 30); round++) {
        run(4000, 300, 4000);
        cache_invalidate(cache);
        run(8000, 20, 4000);
        cache_invalidate(cache);
        first = round == 9 ? stats().adjustments : first;
    }
    expect(stats().storage_shrunk > 3);
    expect(stats().adjustments - first <= 2);
    close_cache();
}

/* One quiet interval does not shrink the cache. */
TEST(shrinking_takes_patience)
{
    open_adaptive(4096, 1 << 20);
    for (uint64_t i = 0; i < 256; i++)
        get(i % 2, 64);
    put(1, 0, 64);
    expect_eq(stats().adjustments, 0);
    for (uint64_t i = 0; i < 256; i++)
        get(i % 2, 64);
    put(1, 0, 64);
    expect_eq(stats().storage_shrunk, 1);
    close_cache();
}

TEST(fixed_sizes_stay)
{
    open_cache(8, 64);
    run(20000, 1000, 500);
    expect_eq(stats().adjustments, 0);
    expect_eq(stats().index_slots, 8);
    expect_eq(stats().storage_bytes, 64);
    close_cache();
}

TEST(the_budget_holds_data_and_bookkeeping)
{
    configure(64, 4096);
    budget.limit = 1 << 20;
    config.adaptive = true;
    config.sample = 16;
    expect_eq(cache_open(&config, &cache), 0);
    for (uint64_t i = 0; i < 100000; i++) {
        get(random_mix(i) % 20000, 1 + i % 700);
        if (i % 5000 == 0)
            write_to(0, 4096 * (random_mix(i) % 20000), 10);
        expect(budget.used <= budget.limit);
    }
    struct cache_stats s = stats();
    expect(budget.used >= s.storage_bytes + s.metadata_bytes);
    expect(s.storage_bytes + s.metadata_bytes > budget.limit / 2); /* the budget is also used */
    close_cache();
}

TEST(storage_with_a_pending_end_waits_to_shrink)
{
    uint32_t first, last;
    open_adaptive(1024, 1 << 20);
    expect_eq(reserve(1, 0, (1 << 20) - 4096, &first), CACHE_DIRECT);
    expect_eq(reserve(1, 1 << 20, 4096, &last), CACHE_DIRECT);
    cache_drop(cache, first);
    memset(cache_data(cache, last), 5, 4096);
    expect(run(20000, 50, 64) >= 99);
    expect_eq(stats().storage_shrunk, 0);
    expect_eq(cache_state_of(cache, last), CACHE_PENDING);
    for (int i = 0; i < 4096; i++)
        expect_eq(((char *)cache_data(cache, last))[i], 5);
    expect(cache_settle(cache, last));
    run(20000, 50, 64);
    expect(stats().storage_shrunk > 0);
    expect(!has(1, 1 << 20));
    close_cache();
}

TEST(pending_entries_survive_resizing)
{
    enum { PENDING = 100 };
    uint32_t ids[PENDING];
    open_adaptive(1024, 1 << 20);
    for (uint64_t i = 0; i < PENDING; i++) {
        expect_eq(reserve(1, 64 * i, 64, &ids[i]), CACHE_DIRECT);
        fetch(1, 64 * i, cache_data(cache, ids[i]), 0, 64);
    }
    run(50000, 5000, 700);
    expect(stats().index_grown > 0 && stats().storage_grown > 0);
    for (uint64_t i = 0; i < PENDING; i++) {
        expect_eq(cache_lookup(cache, 1, 64 * i), ids[i]);
        expect(cache_settle(cache, ids[i]));
        expect(hit(1, 64 * i, 64));
    }
    close_cache();
}
