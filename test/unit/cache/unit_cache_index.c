/* unit_cache_index.c: tests the index under load. Storage is sufficient in all tests. */
#include "test.h"

#include "base/random.h"
#include "base/settings.h"
#include "cache_help.h"

enum { LINE = 64 };

/* Keys in the patterns of programs. */
static void key(unsigned pattern, uint64_t i, uint32_t *target, uint64_t *disp) {
    *target = 0;
    switch (pattern) {
    case 0: /* consecutive */
        *disp = 8 * i;
        return;
    case 1: /* at powers of two */
        *disp = i << 20;
        return;
    case 2: /* the same place at many targets */
        *target = (uint32_t)i;
        *disp = 4096;
        return;
    case 3: /* a few targets, rows of a matrix */
        *target = (uint32_t)(i % 16);
        *disp = i / 16 * 12000;
        return;
    case 4: /* addresses */
        *disp = 0x7f0000000000u + i * 40;
        return;
    default:
        *disp = random_mix(i);
    }
}

enum { PATTERNS = 6 };

static enum cache_outcome add(unsigned pattern, uint64_t i) {
    uint32_t target;
    uint64_t disp;
    key(pattern, i, &target, &disp);
    return put(target, disp, 4);
}

TEST(reaches_97_percent_before_the_first_conflict)
{
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        uint64_t slots = 100003, n = 0;
        configure(slots, 2 * slots * LINE);
        config.path = 4096;
        expect_eq(cache_open(&config, &cache), 0);
        while (n < slots && add(pattern, n) == CACHE_DIRECT)
            n++;
        expect(n * 100 >= slots * 97);
        close_cache();
    }
}

TEST(fills_to_97_percent_on_short_paths)
{
    for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
        uint64_t slots = 5000;
        open_cache(slots, 3 * slots * LINE);
        for (uint64_t i = 0; i < 3 * slots; i++)
            expect(add(pattern, i) != CACHE_FAILING);
        expect(stats().entries * 100 >= slots * 97);
        expect(stats().conflicting > 0);
        close_cache();
    }
}

TEST(half_full_has_no_conflicts_at_any_size)
{
    static const uint64_t sizes[] = {64, 100, 127, 1000, 1024, 4097, 30000, 100003};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned pattern = 0; pattern < PATTERNS; pattern++) {
            open_cache(sizes[i], sizes[i] * LINE);
            for (uint64_t n = 0; n < sizes[i] / 2; n++)
                expect_eq(add(pattern, n), CACHE_DIRECT);
            close_cache();
        }
}

TEST(a_conflict_costs_one_entry_and_all_others_stay_findable)
{
    enum { SLOTS = 200 };
    open_cache(SLOTS, 1 << 20);
    uint64_t before = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        enum cache_outcome outcome = put(0, 64 * i, 8);
        expect(outcome == CACHE_DIRECT || outcome == CACHE_CONFLICTING);
        expect_eq(stats().entries, before + (outcome == CACHE_DIRECT));
        before = stats().entries;
        uint64_t found = 0;
        for (uint64_t j = 0; j <= i && i % 100 == 0; j++)
            found += hit(0, 64 * j, 8);
        expect(i % 100 || found == before);
    }
    expect_eq(stats().evictions, stats().conflicting);
    close_cache();
}

TEST(an_index_full_of_pending_entries_takes_no_more)
{
    enum { SLOTS = 50 };
    uint32_t ids[1000], held = 0;
    open_cache(SLOTS, 1 << 20);
    for (uint64_t i = 0; i < 1000; i++)
        if (reserve(0, 64 * i, 8, &ids[held]) != CACHE_FAILING)
            held++;
    expect(held > SLOTS * 8 / 10 && held <= SLOTS);
    expect_eq(stats().evictions, 0);
    expect_eq(stats().conflicting, 0);
    for (uint32_t i = 0; i < held; i++)
        expect(cache_settle(cache, ids[i]));
    expect_eq(stats().entries, held);
    close_cache();
}

TEST(pending_entries_on_the_path_are_moved_but_not_evicted)
{
    enum { SLOTS = 100 };
    uint32_t ids[SLOTS / 2];
    open_cache(SLOTS, 1 << 20);
    for (uint64_t i = 0; i < SLOTS / 2; i++)
        expect_eq(reserve(1, 64 * i, 8, &ids[i]), CACHE_DIRECT);
    for (uint64_t i = 0; i < 2000; i++)
        put(0, 64 * i, 8);
    expect(stats().conflicting > 100);
    for (uint64_t i = 0; i < SLOTS / 2; i++)
        expect_eq(cache_lookup(cache, 1, 64 * i), ids[i]);
    close_cache();
}

/* The entry with the lowest score on the path is evicted: with scores by age, young entries survive. */
TEST(the_victim_of_a_conflict_is_an_old_one)
{
    enum { SLOTS = 400 };
    configure(SLOTS, 1 << 20);
    config.score = SCORE_TEMPORAL;
    expect_eq(cache_open(&config, &cache), 0);
    for (uint64_t i = 0; i < 4000; i++)
        put(0, 64 * i, 8);
    uint64_t young = 0, old = 0;
    for (uint64_t i = 3800; i < 4000; i++)
        young += has(0, 64 * i);
    for (uint64_t i = 3000; i < 3200; i++)
        old += has(0, 64 * i);
    expect(young > 195);
    expect(old < 40);
    close_cache();
}

TEST(a_conflict_that_may_not_evict_fails)
{
    configure(20, 1 << 20);
    config.evictions = 0;
    expect_eq(cache_open(&config, &cache), 0);
    for (uint64_t i = 0; i < 200; i++)
        put(0, 64 * i, 8);
    expect(stats().failing > 100 && !stats().conflicting && !stats().evictions);
    close_cache();
}
