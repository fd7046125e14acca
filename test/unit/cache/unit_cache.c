/* unit_cache.c: tests the life of an entry. */
#include "test.h"

#include <errno.h>

#include "base/memory.h"
#include "cache_help.h"
#include "fail_memory.h"
#include "tables/shape.h"

TEST(a_miss_is_reserved_filled_and_found)
{
    uint32_t id;
    open_cache(64, 4096);
    expect_eq(cache_lookup(cache, 1, 100), CACHE_NONE);
    expect_eq(reserve(1, 100, 50, &id), CACHE_DIRECT);
    expect_eq(cache_state_of(cache, id), CACHE_PENDING);
    expect_eq(cache_lookup(cache, 1, 100), id);
    expect(!cache_find(cache, 1, 100, 50));
    expect_eq((uintptr_t)cache_data(cache, id) % 64, 0);
    fetch(1, 100, cache_data(cache, id), 0, 50);
    expect(cache_settle(cache, id));
    expect_eq(cache_state_of(cache, id), CACHE_CACHED);
    expect_eq(cache_bytes_of(cache, id), 50);
    expect(hit(1, 100, 50));
    expect(!has(2, 100) && !has(1, 101) && !has(1, 99) && !has(1, 100 + (1ull << 32)));
    close_cache();
}

TEST(a_prefix_is_a_hit_and_more_is_a_partial_one)
{
    open_cache(64, 4096);
    put(0, 0, 100);
    uint32_t id = cache_lookup(cache, 0, 0);
    struct shape less = shape_contiguous(40), more = shape_contiguous(200);
    expect(hit(0, 0, 100) && hit(0, 0, 40) && hit(0, 0, 1));
    expect(!cache_find(cache, 0, 0, 101));
    expect_eq(cache_covers(cache, id, &less), 40);
    expect_eq(cache_covers(cache, id, &more), 100);
    cache_touch(cache, id, 40);
    cache_touch(cache, id, 200);
    expect_eq(stats().full_hits, 4);
    expect_eq(stats().partial_hits, 1);
    close_cache();
}

TEST(layouts_must_agree)
{
    struct shape_block list[] = {{0, 8}, {100, 8}, {50, 4}}, other[] = {{0, 8}, {100, 8}, {60, 4}};
    struct shape irregular = {.bytes = 20, .blocks = 3, .list = list};
    struct shape start = {.bytes = 12, .blocks = 2, .list = (struct shape_block[]){{0, 8}, {100, 4}}};
    struct shape different = {.bytes = 20, .blocks = 3, .list = other}, flat = shape_contiguous(20);
    struct shape column = {.bytes = 32, .blocks = 4, .block_bytes = 8, .stride = 100};
    struct shape top = {.bytes = 16, .blocks = 2, .block_bytes = 8, .stride = 100};
    uint32_t id;
    open_cache(64, 4096);
    expect_eq(cache_insert(cache, 0, 0, &irregular, cache_generation(cache), &id), CACHE_DIRECT);
    memset(list, 0, sizeof list); /* the cache has its own copy */
    expect_eq((uintptr_t)cache_data(cache, id) % 64, 0);
    memset(cache_data(cache, id), 7, 20);
    cache_settle(cache, id);
    expect_eq(cache_covers(cache, id, &start), 12);
    expect_eq(cache_covers(cache, id, &different), 0);
    expect_eq(cache_covers(cache, id, &flat), 0);
    expect(cache_find(cache, 0, 0, 8) && !cache_find(cache, 0, 0, 9));
    expect_eq(cache_insert(cache, 0, 4096, &column, cache_generation(cache), &id), CACHE_DIRECT);
    cache_settle(cache, id);
    expect_eq(cache_covers(cache, id, &column), 32);
    expect_eq(cache_covers(cache, id, &top), 16);
    expect_eq(cache_covers(cache, id, &start), 12); /* ends inside the second block */
    expect(cache_find(cache, 0, 4096, 8) && !cache_find(cache, 0, 4096, 9));
    expect_eq(cache_write(cache, 0, 100, &flat), 1);
    expect_eq(cache_write(cache, 0, 4096 + 8, &flat), 0);
    close_cache();
}

TEST(a_cached_entry_is_replaced_but_not_a_pending_one)
{
    uint32_t id, other = 77;
    open_cache(64, 4096);
    put(0, 0, 100);
    expect_eq(put(0, 0, 300), CACHE_DIRECT);
    expect_eq(stats().entries, 1);
    expect(hit(0, 0, 300));
    expect_eq(reserve(0, 500, 100, &id), CACHE_DIRECT);
    expect_eq(reserve(0, 500, 300, &other), CACHE_FAILING);
    expect_eq(other, 77);
    cache_touch(cache, id, 50);
    expect_eq(stats().pending_hits, 1);
    expect(cache_settle(cache, id));
    expect_eq(stats().entries, 2);
    close_cache();
}

TEST(nothing_is_kept_of_a_get_from_before_an_invalidation)
{
    struct shape s = shape_contiguous(64);
    uint32_t id = 77;
    open_cache(64, 4096);
    uint64_t before = cache_generation(cache);
    cache_invalidate(cache);
    expect_eq(cache_insert(cache, 0, 0, &s, before, &id), CACHE_FAILING);
    expect_eq(id, 77);
    expect_eq(cache_insert(cache, 0, 0, &s, cache_generation(cache), &id), CACHE_DIRECT);
    cache_drop(cache, id);
    close_cache();
}

TEST(full_storage_costs_an_entry)
{
    open_cache(64, 10 * 64);
    for (uint64_t i = 0; i < 10; i++)
        expect_eq(put(0, 64 * i, 64), CACHE_DIRECT);
    expect_eq(stats().used_bytes, 640);
    expect_eq(stats().free_regions, 0);
    expect_eq(put(0, 1000, 64), CACHE_CAPACITY);
    expect_eq(stats().entries, 10);
    expect_eq(stats().evictions, 1);
    expect_eq(stats().visited, 64);
    expect_eq(stats().nonempty, 10);
    close_cache();
}

TEST(one_eviction_may_not_be_enough)
{
    open_cache(64, 10 * 64);
    for (uint64_t i = 0; i < 10; i++)
        put(0, 64 * i, 64);
    expect_eq(put(0, 1000, 65), CACHE_FAILING);
    expect_eq(stats().evictions, 1);
    expect_eq(stats().entries, 9);
    expect_eq(put(0, 2000, 641), CACHE_FAILING); /* can never fit: evicts nothing */
    expect_eq(stats().evictions, 1);
    expect_eq(put(0, 3000, UINT64_MAX), CACHE_FAILING);
    expect_eq(put(0, 3000, 0), CACHE_FAILING);
    expect_eq(stats().failing, 4);
    close_cache();
}

TEST(as_many_evictions_as_are_allowed)
{
    configure(64, 10 * 64);
    config.evictions = 20;
    expect_eq(cache_open(&config, &cache), 0);
    for (uint64_t i = 0; i < 10; i++)
        put(0, 64 * i, 64);
    expect_eq(put(0, 1000, 640), CACHE_CAPACITY);
    expect_eq(stats().evictions, 10);
    expect_eq(stats().entries, 1);
    close_cache();
    config.evictions = 0;
    expect_eq(cache_open(&config, &cache), 0);
    expect_eq(put(0, 0, 640), CACHE_DIRECT);
    expect_eq(put(0, 1000, 64), CACHE_FAILING);
    expect(has(0, 0));
    close_cache();
}

TEST(pending_entries_are_never_victims)
{
    uint32_t ids[10], id;
    open_cache(64, 10 * 64);
    for (uint64_t i = 0; i < 10; i++)
        expect_eq(reserve(0, 64 * i, 64, &ids[i]), CACHE_DIRECT);
    expect_eq(reserve(0, 1000, 64, &id), CACHE_FAILING);
    cache_settle(cache, ids[3]);
    expect_eq(reserve(0, 1000, 64, &id), CACHE_CAPACITY);
    expect(!has(0, 64 * 3));
    for (uint64_t i = 0; i < 10; i++)
        expect(i == 3 || cache_lookup(cache, 0, 64 * i) == ids[i]);
    close_cache();
}

TEST(free_neighbours_merge)
{
    open_cache(64, 10 * 64);
    for (uint64_t i = 0; i < 10; i++)
        put(0, 64 * i, 64);
    for (uint64_t i = 1; i < 10; i += 2)
        cache_drop(cache, cache_lookup(cache, 0, 64 * i));
    expect_eq(stats().free_regions, 5);
    for (uint64_t i = 0; i < 10; i += 2)
        cache_drop(cache, cache_lookup(cache, 0, 64 * i));
    expect_eq(stats().free_regions, 1);
    expect_eq(put(0, 0, 640), CACHE_DIRECT);
    close_cache();
}

TEST(the_best_fit_is_taken)
{
    uint64_t sizes[] = {5, 1, 3, 1, 2, 1, 4, 1};
    open_cache(64, 18 * 64);
    for (uint64_t i = 0; i < 8; i++)
        put(0, 1000 * i, 64 * sizes[i]);
    for (uint64_t i = 0; i < 8; i += 2)
        cache_drop(cache, cache_lookup(cache, 0, 1000 * i));
    expect_eq(stats().free_regions, 4);
    for (uint64_t size = 5; size >= 2; size--) /* any worse fit leaves too little space for one of them */
        expect_eq(put(1, 1000 * size, 64 * size), CACHE_DIRECT);
    expect_eq(stats().free_regions, 0);
    close_cache();
}

TEST(peeking_is_not_an_access)
{
    open_cache(64, 4096);
    put(0, 0, 100);
    uint64_t lookups = stats().lookups;
    uint32_t id = cache_peek(cache, 0, 0);
    expect(id != CACHE_NONE && cache_peek(cache, 0, 1) == CACHE_NONE);
    expect_eq(stats().lookups, lookups);
    close_cache();
}

TEST(a_pending_entry_keeps_its_owner)
{
    uint32_t id;
    open_cache(64, 64 * 64);
    expect_eq(reserve(0, 0, 100, &id), CACHE_DIRECT);
    expect_eq(cache_owner_of(cache, id), 0);
    cache_set_owner(cache, id, 123);
    for (uint64_t i = 0; i < 1000; i++)
        put(1, 100 * i, 100);
    cache_invalidate(cache);
    for (uint64_t i = 0; i < 1000; i++)
        put(1, 100 * i, 100);
    expect_eq(cache_owner_of(cache, id), 123);
    cache_drop(cache, id);
    close_cache();
}

/* ---- extension ---- */

TEST(an_entry_grows_in_place)
{
    open_cache(64, 4096);
    put(0, 0, 100);
    uint32_t id = cache_lookup(cache, 0, 0);
    expect_eq(cache_extend(cache, id, 128), 0); /* within the last line */
    fetch(0, 0, cache_data(cache, id), 100, 128);
    expect(hit(0, 0, 128));
    expect_eq(stats().used_bytes, 128);
    expect_eq(cache_extend(cache, id, 1000), 0);
    fetch(0, 0, cache_data(cache, id), 128, 1000);
    expect(hit(0, 0, 1000));
    expect_eq(stats().used_bytes, 1024);
    expect_eq(cache_extend(cache, id, 4096), 0);
    expect_eq(stats().free_regions, 0);
    expect_eq(cache_extend(cache, id, 4097), -ENOSPC);
    expect_eq(cache_extend(cache, id, 10), 0); /* already covered */
    expect_eq(cache_bytes_of(cache, id), 4096);
    close_cache();
}

TEST(an_entry_moves_to_grow)
{
    open_cache(64, 4096);
    put(0, 0, 100);
    put(0, 1000, 64);
    uint32_t id = cache_lookup(cache, 0, 0);
    expect_eq(cache_extend(cache, id, 300), 0);
    expect_eq(cache_lookup(cache, 0, 0), id);
    fetch(0, 0, cache_data(cache, id), 100, 300);
    expect(hit(0, 0, 300) && hit(0, 1000, 64));
    expect_eq(stats().used_bytes, 320 + 64);
    expect_eq(write_to(0, 250, 1), 1); /* the new tail is tracked */
    close_cache();
}

/* The free region is just before the entry, and just large enough: the two exchange places in the ring. */
TEST(an_entry_moves_to_its_neighbour)
{
    open_cache(64, 5 * 64);
    put(0, 0, 128);
    put(0, 1000, 64);
    put(0, 2000, 128);
    cache_drop(cache, cache_lookup(cache, 0, 0));
    uint32_t id = cache_lookup(cache, 0, 1000);
    expect_eq(cache_extend(cache, id, 128), 0);
    fetch(0, 1000, cache_data(cache, id), 64, 128);
    expect(hit(0, 1000, 128) && hit(0, 2000, 128));
    expect_eq(cache_check(cache), 0);
    close_cache();
}

TEST(growing_may_cost_an_entry_and_may_fail)
{
    open_cache(64, 4 * 64);
    put(0, 0, 64);
    put(0, 1000, 192);
    uint32_t id = cache_lookup(cache, 0, 0);
    expect_eq(cache_extend(cache, id, 256), 0); /* evicts the other entry, not itself */
    expect(!has(0, 1000) && hit(0, 0, 64));
    close_cache();
    open_cache(64, 4 * 64);
    uint32_t other;
    put(0, 0, 64);
    reserve(0, 1000, 192, &other);
    id = cache_lookup(cache, 0, 0);
    expect_eq(cache_extend(cache, id, 128), -ENOSPC);
    expect(hit(0, 0, 64) && !cache_find(cache, 0, 0, 65));
    close_cache();
}

/* ---- memory ---- */

TEST(a_small_budget_means_a_small_cache)
{
    configure(16384, 16 << 20);
    budget.limit = 1 << 20;
    expect_eq(cache_open(&config, &cache), 0);
    expect(stats().storage_bytes >= 1 << 18 && budget.used <= budget.limit);
    expect(budget.used >= stats().storage_bytes + stats().metadata_bytes);
    expect_eq(put(0, 0, 100), CACHE_DIRECT);
    close_cache();
    configure(16384, 16 << 20);
    budget.limit = 8192;
    expect_eq(cache_open(&config, &cache), -EDQUOT);
    expect_eq(budget.used, 0);
}

TEST(a_tiny_cache_works)
{
    open_cache(1, 1);
    expect_eq(stats().storage_bytes, 64);
    expect_eq(stats().index_slots, 4);
    expect_eq(put(0, 0, 64), CACHE_DIRECT);
    expect_eq(put(0, 64, 64), CACHE_CAPACITY);
    expect_eq(put(0, 0, 65), CACHE_FAILING);
    close_cache();
}

/* All operations that allocate, with each allocation refused in turn: opening, growing, tracking writes. */
static void work_hard(void) {
    uint32_t ids[300];
    for (uint64_t i = 0; i < 300; i++)
        if (reserve(3, 64 * i, 64, &ids[i]) == CACHE_FAILING)
            ids[i] = CACHE_NONE;
    for (uint64_t i = 0; i < 300; i++)
        if (ids[i] != CACHE_NONE)
            cache_settle(cache, ids[i]);
    for (uint64_t i = 0; i < 2000; i++)
        if (!cache_find(cache, 0, 128 * (i % 700), 100))
            put(0, 128 * (i % 700), 100);
    expect_eq(cache_check(cache), 0);
    bool was_there = has(0, 128 * 699);
    expect_eq(write_to(0, 128 * 699 + 50, 1), was_there);
    for (uint64_t i = 0; i < 2000; i++)
        if (!hit(1, 128 * (i % 500), 100))
            put(1, 128 * (i % 500), 100);
    expect_eq(cache_check(cache), 0);
    was_there = has(1, 128 * 499);
    expect_eq(write_to(1, 128 * 499 + 50, 1), was_there);
    expect(!has(1, 128 * 499));
}

TEST(memory_may_run_out_at_any_moment)
{
    unsigned opened = 0;
    for (unsigned n = 1; n < 60; n++) {
        configure(16, 4096);
        config.adaptive = true;
        config.adapt_interval = 100;
        fail_memory_at(n);
        if (cache_open(&config, &cache)) {
            expect_eq(budget.used, 0);
            continue;
        }
        opened++;
        work_hard();
        fail_memory_at(0);
        close_cache();
    }
    fail_memory_at(0);
    expect(opened > 50 && opened < 59);
}
