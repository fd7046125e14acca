/* unit_cache_victim.c: the score that is configured chooses the entry that the paper's formula names. The
 * sample is the whole index, so the choice is certain; sizes are whole cache lines, and entries lie in the
 * order in which they come. */
#include "test.h"

#include "cache_help.h"

enum { LINE = 64, ENTRIES = 8 };

static void open_scored(enum score score, uint64_t bytes) {
    configure(64, bytes);
    config.score = score;
    expect_eq(cache_open(&config, &cache), 0);
}

/* Eight entries of two lines each, side by side, then a hole where number 3 was; all as old as their numbers.
 */
static void fill_with_hole(enum score score) {
    open_scored(score, 2 * LINE * ENTRIES);
    for (uint64_t i = 0; i < ENTRIES; i++)
        expect_eq(put(0, 1000 * i, 2 * LINE), CACHE_DIRECT);
    cache_drop(cache, cache_lookup(cache, 0, 3000));
}

static void expect_only_missing(uint64_t number) {
    for (uint64_t i = 0; i < ENTRIES; i++)
        expect_eq(has(0, 1000 * i), i != 3 && i != number);
}

TEST(temporal_takes_the_oldest)
{
    open_scored(SCORE_TEMPORAL, 4 * LINE);
    for (uint64_t i = 0; i < 4; i++)
        put(0, 1000 * i, LINE);
    expect(hit(0, 0, LINE));
    expect(hit(0, 2000, LINE));
    expect_eq(put(1, 0, LINE), CACHE_CAPACITY);
    expect(!has(0, 1000));
    cache_touch(cache, cache_lookup(cache, 0, 3000), LINE);
    expect_eq(put(1, 1000, LINE), CACHE_CAPACITY);
    expect(!has(0, 0) && has(0, 2000) && has(0, 3000) && has(1, 0) && has(1, 1000));
    close_cache();
}

TEST(temporal_does_not_care_for_holes)
{
    fill_with_hole(SCORE_TEMPORAL);
    expect_eq(put(1, 0, 4 * LINE), CACHE_FAILING);
    expect_only_missing(0);
    close_cache();
}

/* Average get 1 x 4 and 8 x 2 lines: about the hole of 2 lines, so its neighbours score low, all others 1. */
TEST(positional_takes_a_neighbour_of_the_hole)
{
    fill_with_hole(SCORE_POSITIONAL);
    expect_eq(put(1, 0, 4 * LINE), CACHE_CAPACITY);
    expect(has(0, 2000) != has(0, 4000));
    for (uint64_t i = 0; i < ENTRIES; i++)
        expect(i == 2 || i == 3 || i == 4 || has(0, 1000 * i));
    close_cache();
}

/* Neighbours score |142.2 - 128| / 142.2 = 0.1 x age. Number 2 is older than 4, and 0.1 x its age beats the
 * oldest. */
TEST(full_takes_the_older_neighbour_of_the_hole)
{
    fill_with_hole(SCORE_FULL);
    expect_eq(put(1, 0, 4 * LINE), CACHE_CAPACITY);
    expect_only_missing(2);
    close_cache();
}

TEST(full_spares_a_neighbour_that_is_in_use)
{
    fill_with_hole(SCORE_FULL);
    expect(hit(0, 2000, 2 * LINE));
    expect_eq(put(1, 0, 4 * LINE), CACHE_CAPACITY);
    expect_only_missing(4);
    close_cache();
}

/* Small gets bring the average down to 67.4 bytes: neighbours score 0.9 x age, and the oldest is far older.
 */
TEST(full_takes_a_very_old_one_rather_than_a_young_neighbour)
{
    fill_with_hole(SCORE_FULL);
    for (int i = 0; i < 100; i++) {
        expect(hit(0, 2000, LINE));
        expect(hit(0, 4000, LINE));
    }
    expect_eq(put(1, 0, 4 * LINE), CACHE_FAILING);
    expect_only_missing(0);
    close_cache();
}

TEST(the_sample_goes_on_until_there_is_an_entry)
{
    configure(100000, LINE);
    config.sample = 1;
    expect_eq(cache_open(&config, &cache), 0);
    put(0, 0, LINE);
    for (uint64_t i = 1; i < 50; i++)
        expect_eq(put(0, 1000 * i, LINE), CACHE_CAPACITY);
    expect_eq(stats().nonempty, 49);
    expect(stats().visited > 49 * 1000);
    close_cache();
}

TEST(the_sample_is_as_large_as_it_is_set)
{
    configure(1000, 500 * LINE);
    config.sample = 16;
    expect_eq(cache_open(&config, &cache), 0);
    for (uint64_t i = 0; i < 2500; i++)
        put(0, 1000 * i, LINE);
    struct cache_stats s = stats();
    expect_eq(s.evictions, s.capacity);
    expect(s.visited >= 16 * s.evictions && s.visited < 17 * s.evictions);
    expect(s.nonempty > 7 * s.evictions && s.nonempty < 9 * s.evictions);
    close_cache();
}
