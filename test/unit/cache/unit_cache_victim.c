/* unit_cache_victim.c: tests that each score chooses the victim that the paper's formula names. The sample is the
 * whole index, so the choice is deterministic; sizes are whole cache lines, and entries are placed in the order of
 * insertion. Weights are tested as well. */
#include "test.h"

#include "base/random.h"
#include "base/settings.h"
#include "cache_help.h"
#include "tables/shape.h"

enum { LINE = 64, ENTRIES = 8 };

static void open_scored(enum score score, uint64_t bytes) {
    configure(64, bytes);
    config.score = score;
    expect_eq(cache_open(&config, &cache), 0);
}

/* Eight adjacent entries of two lines each, then number 3 is removed; ages follow the numbers. */
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

/* The average get, of one of 4 lines and eight of 2 lines, is about as large as the hole of 2 lines. So the neighbours of the
 * hole score low, and all others score 1. */
TEST(positional_takes_a_neighbour_of_the_hole)
{
    fill_with_hole(SCORE_POSITIONAL);
    expect_eq(put(1, 0, 4 * LINE), CACHE_CAPACITY);
    expect(has(0, 2000) != has(0, 4000));
    for (uint64_t i = 0; i < ENTRIES; i++)
        expect(i == 2 || i == 3 || i == 4 || has(0, 1000 * i));
    close_cache();
}

/* Neighbours score |142.2 - 128| / 142.2 = 0.1 times their age. Number 2 is older than 4, and its score is below that of
 * the oldest entry. */
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

/* Small gets reduce the average to 67.4 bytes: neighbours score 0.9 x age, and the oldest is far older. */
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

/* ---- weights ---- */

static enum cache_outcome put_weighted(uint64_t disp, uint64_t bytes, double weight) {
    if (weight > 0)
        cache_set_weight(cache, weight);
    return put(0, disp, bytes);
}

/* Four entries of one line in a cache of four, so late that their ages are equal; weight 0: none given. */
static void fill_weighted(enum score score, const double *weights, double unit) {
    open_scored(score, 4 * LINE);
    for (int i = 0; i < 100000; i++)
        cache_lookup(cache, 9, 9);
    for (uint64_t i = 0; i < 4; i++)
        expect_eq(put_weighted(1000 * i, LINE, weights[i] * unit), CACHE_DIRECT);
}

static void expect_lost(int number) {
    for (uint64_t i = 0; i < 4; i++)
        expect_eq(cache_peek(cache, 0, 1000 * i) == CACHE_NONE, (int)i == number);
}

TEST(the_least_weight_goes_whatever_the_unit)
{
    static const double units[] = {1, 1e-30, 1e30};
    static const double weights[][4] = {{4, 1, 2, 3}, {2, 4, 3, 1}, {1, 2, 3, 4}};
    static const int least[] = {1, 3, 0};
    for (int u = 0; u < 3; u++)
        for (int i = 0; i < 3; i++)
            for (int score = SCORE_FULL; score <= SCORE_POSITIONAL; score++) {
                fill_weighted((enum score)score, weights[i], units[u]);
                expect_eq(put_weighted(9000, LINE, 2.5 * units[u]), CACHE_CAPACITY);
                expect_lost(least[i]);
                close_cache();
            }
}

TEST(weights_beyond_a_float_are_the_least_and_the_greatest)
{
    fill_weighted(SCORE_FULL, (double[]){1e300, 1e-300, 1, 1}, 1);
    expect_eq(put_weighted(9000, LINE, 1), CACHE_CAPACITY);
    expect_lost(1);
    expect_eq(put_weighted(9001, LINE, 1e200), CACHE_CAPACITY);
    expect(has(0, 0) && has(0, 9001));
    close_cache();
}

TEST(a_newcomer_that_is_worth_less_than_all_is_not_kept)
{
    fill_weighted(SCORE_FULL, (double[]){4, 2, 2, 3}, 1);
    expect_eq(put_weighted(9000, LINE, 1), CACHE_FAILING);
    expect_lost(-1);
    expect_eq(stats().evictions, 0);
    expect_eq(put_weighted(9000, LINE, 2), CACHE_CAPACITY);
    expect_lost(1);
    close_cache();
}

/* The search ends even if it has to inspect every slot. */
TEST(a_sample_without_a_victim_ends)
{
    configure(1000, 4 * LINE);
    config.sample = 1;
    expect_eq(cache_open(&config, &cache), 0);
    for (uint64_t i = 0; i < 4; i++)
        put_weighted(1000 * i, LINE, 100);
    for (int i = 0; i < 100; i++)
        expect_eq(put_weighted(9000, LINE, 1), CACHE_FAILING);
    expect_eq(stats().nonempty, 100);
    expect(stats().visited < 100 * 600);
    close_cache();
}

/* The mean is 3: such an entry is kept longer than one of weight 2 and not as long as one of weight 4. */
TEST(an_entry_without_weight_counts_as_the_mean)
{
    fill_weighted(SCORE_FULL, (double[]){2, 0, 4, 0}, 1);
    expect_eq(put_weighted(9000, LINE, 3), CACHE_CAPACITY);
    expect_lost(0);
    expect_eq(put_weighted(9001, LINE, 3), CACHE_CAPACITY);
    expect(has(0, 2000) && has(0, 1000) + has(0, 3000) == 1);
    close_cache();
}

TEST(a_weight_is_for_one_entry_only)
{
    uint32_t id;
    struct shape shape = shape_contiguous(LINE);
    fill_weighted(SCORE_FULL, (double[]){1, 1, 1, 7}, 1);
    cache_set_weight(cache, 5);
    expect_eq(cache_insert(cache, 0, 8000, &shape, cache_generation(cache) + 1, &id), CACHE_FAILING);
    cache_drop(cache, cache_peek(cache, 0, 0));
    expect_eq(put(0, 0, LINE), CACHE_DIRECT); /* gets the mean, 3: neither 5 nor the old weight */
    expect_eq(put_weighted(9000, LINE, 4), CACHE_CAPACITY);
    expect_eq(put_weighted(9001, LINE, 4), CACHE_CAPACITY);
    expect(has(0, 0) && !has(0, 1000) && !has(0, 2000));
    expect_eq(put_weighted(9002, LINE, 4), CACHE_CAPACITY);
    expect(!has(0, 0) && has(0, 3000));
    close_cache();
}

TEST(age_counts_beside_weight)
{
    open_scored(SCORE_TEMPORAL, 2 * LINE);
    put_weighted(0, LINE, 3);
    for (int i = 0; i < 10; i++)
        cache_lookup(cache, 9, 9);
    put_weighted(1000, LINE, 1); /* weight x recency: 3 x 1 against 1 x 12 */
    expect_eq(put_weighted(2000, LINE, 1), CACHE_CAPACITY);
    expect(!has(0, 0) && has(0, 1000) && has(0, 2000));
    close_cache();
}

TEST(forgotten_weights_count_no_more)
{
    fill_weighted(SCORE_FULL, (double[]){1e9, 2e9, 3e9, 1e9}, 1);
    cache_forget_weights(cache);
    expect_eq(put_weighted(9000, LINE, 2), CACHE_CAPACITY); /* all have weight 2: evicts the oldest */
    expect_lost(0);
    close_cache();
}

TEST(an_extended_entry_keeps_its_weight)
{
    open_scored(SCORE_FULL, 4 * LINE);
    put_weighted(0, LINE, 100);
    for (uint64_t i = 1; i < 4; i++)
        put_weighted(1000 * i, LINE, 1);
    expect_eq(cache_extend(cache, cache_peek(cache, 0, 0), 2 * LINE), 0);
    for (uint64_t i = 4; i < 50; i++)
        put_weighted(1000 * i, LINE, 1);
    expect(has(0, 0));
    close_cache();
}

/* ---- weights known from the future ---- */

enum { KEYS = 2000, GETS = 100000 };

/* The i-th key occurs in proportion to 1 / (i + 1). */
static uint32_t draw(struct random *dice, const double *up_to) {
    double x = (double)(random_next(dice) >> 11) / (double)(1ull << 53) * up_to[KEYS - 1];
    uint32_t lo = 0, hi = KEYS - 1;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (up_to[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Hit ratio of a cache for a tenth of the keys, with the default sample. */
static double skewed_hits(bool weighted) {
    static double up_to[KEYS];
    struct random dice;
    uint64_t hits = 0;
    configure(KEYS / 5, KEYS / 10 * 4 * LINE);
    config.sample = 16;
    expect_eq(cache_open(&config, &cache), 0);
    random_seed(&dice, 7);
    for (uint32_t i = 0; i < KEYS; i++)
        up_to[i] = (i ? up_to[i - 1] : 0) + 1.0 / (i + 1);
    for (int i = 0; i < GETS; i++) {
        uint32_t key = draw(&dice, up_to);
        if (hit(0, 1000 * key, 4 * LINE))
            hits++;
        else
            put_weighted(1000 * key, 4 * LINE, weighted ? 1.0 / (key + 1) : 0);
    }
    close_cache();
    return (double)hits / GETS;
}

/* The optimum keeps the most frequent tenth, 0.718 of the gets. */
TEST(weights_of_reuse_raise_the_hit_ratio)
{
    double without = skewed_hits(false), with = skewed_hits(true);
    printf("hit ratio without weights %.3f, with %.3f\n", without, with);
    expect(with > without + 0.08);
    expect(with > 0.68);
}
