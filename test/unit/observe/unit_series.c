/* unit_series.c: compares a time series that halves its resolution repeatedly with the list of all events. */
#include "test.h"

#include "base/clock.h"
#include "base/random.h"
#include "observe/series.h"

enum { EVENTS = 20000 };

static uint64_t times[EVENTS];

/* The number of events before this time. */
static uint64_t events_before(uint64_t time, unsigned count) {
    uint64_t n = 0;
    while (n < count && times[n] < time)
        n++;
    return n;
}

static uint64_t seed_of_test(void) {
    const char *given = getenv("HEARTH_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : clock_ns() % 1000000;
    printf("HEARTH_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

/* Each event is counted after the bins before it have ended. */
TEST(each_bin_holds_what_was_counted_until_its_end)
{
    struct random dice;
    random_seed(&dice, seed_of_test());
    for (unsigned round = 0; round < 20; round++) {
        static struct series s;
        uint64_t now = 1000, counts[SERIES_COLUMNS] = {0};
        unsigned gap = 1 + random_below(&dice, 3) * 50;
        series_start(&s, now, 10);
        for (unsigned i = 0; i < EVENTS; i++) {
            now += random_below(&dice, random_below(&dice, 500) ? gap : 20000);
            if (now >= series_due(&s))
                series_note(&s, now, counts);
            times[i] = now;
            counts[0]++;
            counts[1] += 2;
        }
        series_end(&s, now, counts);
        expect(s.count <= SERIES_BINS && s.count > SERIES_BINS / 4);
        expect(s.start + s.count * s.width > now && s.start + (s.count - 1) * s.width <= now);
        for (unsigned i = 0; i < s.count; i++) {
            expect_eq(s.values[i][0], events_before(s.start + (i + 1) * s.width, EVENTS));
            expect_eq(s.values[i][1], 2 * s.values[i][0]);
        }
    }
}

TEST(nothing_happened)
{
    static struct series s;
    uint64_t none[SERIES_COLUMNS] = {0};
    series_start(&s, 0, 1);
    series_end(&s, 1000000, none);
    expect(s.count > SERIES_BINS / 2 && s.count <= SERIES_BINS);
    expect_eq(s.values[s.count - 1][0], 0);
}
