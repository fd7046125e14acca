/* unit_cache_forget.c: tests which entries writes and invalidations remove, and which they keep. */
#include "test.h"

#include "base/clock.h"
#include "cache_help.h"
#include "tables/shape.h"

/* ---- writes ---- */

TEST(a_write_drops_what_it_touches_and_nothing_else)
{
    open_cache(256, 65536);
    for (uint64_t i = 0; i < 100; i++)
        put(i % 2, 100 * i, 100);
    expect_eq(write_to(0, 1000, 1), 1);
    expect(!has(0, 1000) && stats().entries == 99);
    expect_eq(write_to(0, 1000, 200), 0); /* only entries of the other target are there now */
    expect_eq(write_to(1, 1200, 100), 0);
    expect_eq(write_to(0, 1199, 2), 1);           /* the first byte */
    expect_eq(write_to(0, 1499, 1), 1);           /* the last byte */
    expect_eq(write_to(0, 0, INT64_MAX), 50 - 3); /* all of a target */
    expect_eq(write_to(2, 0, INT64_MAX), 0);
    expect_eq(stats().entries, 50);
    expect_eq(stats().dropped, 50);
    for (uint64_t i = 1; i < 100; i += 2)
        expect(hit(1, 100 * i, 100));
    close_cache();
}

TEST(a_write_beyond_the_address_space_ends_there)
{
    struct shape down = {.bytes = 16, .blocks = 2, .block_bytes = 8, .stride = -100},
                 up = shape_contiguous(100);
    open_cache(64, 4096);
    put(0, 0, 10);
    put(0, UINT64_MAX - 50, 10);
    expect_eq(cache_write(cache, 0, 5, &down), 1); /* its second block would lie below 0 */
    expect_eq(cache_write(cache, 0, UINT64_MAX - 60, &up), 1);
    expect_eq(stats().entries, 0);
    close_cache();
}

TEST(a_write_between_the_blocks_drops_nothing)
{
    struct shape column = {.bytes = 80, .blocks = 10, .block_bytes = 8, .stride = 100};
    uint32_t id;
    open_cache(64, 4096);
    cache_insert(cache, 0, 1000, &column, cache_generation(cache), &id);
    cache_settle(cache, id);
    expect_eq(cache_write(cache, 0, 1008, &column), 0);
    expect_eq(cache_write(cache, 0, 1092, &column), 0);
    expect(has(0, 1000));
    expect_eq(cache_write(cache, 0, 1093, &column), 1);
    expect(!has(0, 1000));
    close_cache();
}

TEST(a_write_dooms_what_is_on_the_way)
{
    uint32_t id, next;
    open_cache(64, 4096);
    reserve(0, 0, 100, &id);
    expect_eq(write_to(0, 50, 1), 1);
    expect_eq(cache_state_of(cache, id), CACHE_PENDING);
    expect(!has(0, 0));
    expect_eq(write_to(0, 50, 1), 0);
    expect_eq(reserve(0, 0, 100, &next), CACHE_DIRECT); /* the key is free again */
    expect(next != id);
    expect(!cache_settle(cache, id));
    expect(cache_settle(cache, next));
    expect_eq(stats().entries, 1);
    close_cache();
}

TEST(dooming_and_dropping_by_hand)
{
    uint32_t id;
    open_cache(64, 4096);
    reserve(0, 0, 100, &id);
    cache_invalidate_pending(cache, id);
    expect(!has(0, 0));
    expect(!cache_settle(cache, id));
    put(0, 0, 100);
    cache_invalidate_pending(cache, cache_lookup(cache, 0, 0));
    expect(!has(0, 0));
    reserve(0, 0, 100, &id);
    cache_drop(cache, id);
    expect_eq(stats().used_bytes, 0);
    expect_eq(stats().entries, 0);
    close_cache();
}

/* ---- invalidation ---- */

TEST(invalidation_forgets_all)
{
    open_cache(1024, 1 << 20);
    for (int round = 0; round < 50; round++) {
        for (uint64_t i = 0; i < 500; i++)
            expect_eq(put(0, 100 * i, 100), CACHE_DIRECT);
        expect_eq(stats().entries, 500);
        cache_invalidate(cache);
        expect_eq(stats().entries, 0);
        expect_eq(stats().used_bytes, 0);
        for (uint64_t i = 0; i < 500; i++)
            expect(!has(0, 100 * i));
        expect_eq(write_to(0, 0, 1 << 30), 0);
        expect_eq(cache_check(cache), 0);
    }
    expect_eq(stats().invalidations, 50);
    close_cache();
}

TEST(invalidation_takes_constant_time)
{
    enum { MANY = 100000 };
    uint32_t id;
    for (int pending = 0; pending < 2; pending++) {
        open_cache(2 * MANY, 64 * MANY + 64);
        if (pending)
            reserve(1, 0, 64, &id);
        for (uint64_t i = 0; i < MANY; i++)
            put(0, 64 * i, 8);
        expect_eq(write_to(0, 0, 1), 1); /* so that writes are tracked, too */
        uint64_t start = clock_ns();
        for (int i = 0; i < 1000000; i++)
            cache_invalidate(cache);
        expect(clock_ns() - start < 1000000000u);
        expect_eq(stats().entries, pending);
        close_cache();
    }
}

TEST(what_is_pending_outlives_an_invalidation_but_is_not_kept)
{
    uint32_t id, next;
    open_cache(64, 4096);
    reserve(0, 0, 100, &id);
    fetch(0, 0, cache_data(cache, id), 0, 100);
    cache_invalidate(cache);
    expect(!has(0, 0));
    expect_eq(reserve(0, 0, 100, &next), CACHE_DIRECT);
    for (uint64_t i = 1; i < 100; i++)
        put(0, 100 * i, 100);
    expect_eq(cache_state_of(cache, id), CACHE_PENDING);
    expect(is_data(0, 0, cache_data(cache, id), 100));
    expect(!cache_settle(cache, id));
    expect_eq(cache_lookup(cache, 0, 0), next);
    expect(cache_settle(cache, next));
    close_cache();
}

TEST(stale_entries_make_way)
{
    uint32_t id;
    configure(2048, 1000 * 64);
    config.evictions = 0;
    expect_eq(cache_open(&config, &cache), 0);
    reserve(1, 0, 64, &id);
    for (int round = 0; round < 5; round++) {
        for (uint64_t i = 0; i < 999; i++)
            expect_eq(put(0, 64 * i, 64), CACHE_DIRECT);
        expect_eq(stats().free_regions, 0);
        cache_invalidate(cache);
    }
    cache_drop(cache, id);
    for (uint64_t i = 0; i < 1000; i++) /* one for each line */
        expect_eq(put(0, 64 * i, 64), CACHE_DIRECT);
    expect_eq(stats().used_bytes, 64000);
    expect_eq(stats().entries, 1000);
    close_cache();
}

TEST(stale_entries_make_way_for_a_large_one)
{
    uint32_t id, tries = 0;
    open_cache(8192, 4000 * 64);
    reserve(1, 0, 64, &id);
    for (uint64_t i = 0; i < 3999; i++)
        put(0, 64 * i, 64);
    cache_invalidate(cache);
    while (put(2, 0, 3000 * 64) == CACHE_FAILING && tries < 100)
        tries++;
    expect(tries < 20);
    close_cache();
}
