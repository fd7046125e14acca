/* unit_pages_fetch_policy.c: tests when a small operation fetches its page. */
#include "test.h"

#include "pages/pool/fetch_policy.h"

static struct fetch_policy habit;
static uint64_t now;

static void begin(void) {
    memset(&habit, 0, sizeof(habit));
    now = 123456789;
}

static bool is_small(uint32_t page, bool write) {
    return pages_policy_is_small(&habit, 1, page, write, PAGES_NORMAL, now);
}

/* The number of small operations before the page is fetched, one per microsecond. */
static unsigned smalls(uint32_t page, bool write) {
    unsigned n = 0;
    for (; n < 200000 && is_small(page, write); n++)
        now += 1000;
    return n;
}

TEST(the_first_go_small_then_the_page_is_fetched)
{
    for (int write = 0; write < 2; write++) {
        begin();
        expect_eq(smalls(7, write), POLICY_LEAST);
    }
}

TEST(pages_are_counted_apart)
{
    begin();
    for (unsigned i = 0; i < POLICY_LEAST; i++)
        for (uint32_t page = 0; page < 8; page++)
            expect(pages_policy_is_small(&habit, (uint16_t)(page % 2), page / 2, false, PAGES_NORMAL, now));
    for (uint32_t page = 0; page < 8; page++)
        expect(!pages_policy_is_small(&habit, (uint16_t)(page % 2), page / 2, false, PAGES_NORMAL, now));
}

TEST(hints_decide_at_once)
{
    begin();
    for (int i = 0; i < 100; i++) {
        expect(pages_policy_is_small(&habit, 1, 7, false, PAGES_NO_CACHE, now));
        expect(pages_policy_is_small(&habit, 1, 7, true, PAGES_NO_CACHE, now));
        expect(!pages_policy_is_small(&habit, 1, 7, false, PAGES_READ_MOSTLY, now));
        expect(pages_policy_is_small(&habit, 1, 7, true, PAGES_READ_MOSTLY, now));
    }
    expect_eq(smalls(7, false), POLICY_LEAST); /* operations with hints are not counted */
}

TEST(a_page_that_is_taken_away_is_fetched_ever_more_rarely)
{
    begin();
    for (unsigned k = POLICY_LEAST; k <= POLICY_MOST; k *= 2) {
        expect_eq(smalls(7, true), k);
        now += 1000000;
    }
}

TEST(but_no_more_rarely_than_that)
{
    begin();
    for (unsigned i = 0; i < 20; i++) {
        smalls(7, true);
        now += 1000000;
    }
    unsigned n = smalls(7, true); /* 65 ms: too short to expire */
    expect_eq(n, POLICY_MOST);
}

TEST(false_sharing_costs_few_pages)
{
    begin();
    unsigned fetched = 0;
    for (int i = 0; i < 100000; i++) {
        fetched += !is_small(7, true);
        now += 60000;
    }
    /* The operations take 6 s. The threshold is halved after every POLICY_LONG_NS without a loss, so fetches recur. */
    expect(fetched < 200);
    printf("%u pages for 100000 operations\n", fetched);
}

TEST(a_page_that_was_dropped_long_after_is_no_loss)
{
    begin();
    for (int i = 0; i < 10; i++) {
        expect_eq(smalls(7, false), POLICY_LEAST);
        now += POLICY_SOON_NS + 1000000;
    }
}

TEST(losses_are_forgotten_by_half)
{
    for (unsigned longs = 0; longs < 6; longs++) {
        begin();
        for (int i = 0; i < 5; i++) { /* 4 8 16 32 64 */
            smalls(7, true);
            now += 1000000;
        }
        expect(is_small(7, true)); /* the first of the next series, which would have 128 */
        now += longs * (uint64_t)POLICY_LONG_NS + POLICY_LONG_NS / 10;
        unsigned k = 128 >> longs;
        expect_eq(smalls(7, true) + 1, k > POLICY_LEAST ? k : POLICY_LEAST);
    }
}

TEST(a_page_on_its_way_is_not_a_loss)
{
    begin();
    smalls(7, true);
    now += 20000;
    expect(!is_small(7, true)); /* another thread waits for the same fetch */
    now += POLICY_SOON_NS * 2;
    expect_eq(smalls(7, true), POLICY_LEAST);
}

TEST(to_write_after_it_was_fetched_to_read_is_not_a_loss)
{
    begin();
    expect_eq(smalls(7, false), POLICY_LEAST);
    now += 1000000;
    expect_eq(smalls(7, true), POLICY_LEAST);
    now += 1000000;
    expect_eq(smalls(7, false), 2 * POLICY_LEAST); /* this is a loss */
}

TEST(the_clock_goes_round)
{
    begin();
    now = (1ull << 39) - 2000; /* limit of the time in an entry */
    expect_eq(smalls(7, true), POLICY_LEAST);
    now += 1000000;
    expect_eq(smalls(7, true), 2 * POLICY_LEAST);
}

/* Updates many more pages than the table holds, one after the other: hardly any page is fetched. */
TEST(many_pages_at_once_stay_small)
{
    begin();
    unsigned small = 0;
    for (int round = 0; round < 20; round++)
        for (uint32_t page = 0; page < 5000; page++)
            small += is_small(page, true);
    expect(small >= 90000);
    expect(small < 100000); /* some are alone in their slot */
}
