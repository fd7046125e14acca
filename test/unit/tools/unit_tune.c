/* unit_tune.c: the decisions of hearth tune, from given times and observations. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "tune/tune_decide.h"
#include "tune/tune_plan.h"

static bool is_near(double a, double b) {
    return fabs(a - b) < 1e-9;
}

TEST(intervals)
{
    double three[] = {3, 1, 2}, four[] = {4, 1, 3, 2}, five[] = {5, 1, 4, 2, 3}, nine[9], one[] = {7};
    struct tune_interval i = tune_interval(three, 3);
    expect(i.low == 1 && i.median == 2 && i.high == 3 && is_near(i.coverage, 0.75));
    i = tune_interval(four, 4);
    expect(i.median == 2.5 && i.low == 1 && i.high == 4);
    i = tune_interval(five, 5);
    expect(i.low == 1 && i.median == 3 && i.high == 5 && is_near(i.coverage, 0.9375));
    for (int k = 0; k < 9; k++)
        nine[k] = 9 - k;
    i = tune_interval(nine, 9); /* the smallest and the largest may be outliers */
    expect(i.low == 2 && i.median == 5 && i.high == 8 && is_near(i.coverage, 1 - 20.0 / 512));
    i = tune_interval(one, 1);
    expect(i.low == 7 && i.median == 7 && i.high == 7);
    expect(nine[0] == 9); /* the times are not changed */
}

/* Of many runs the extremes do not count: one slow run among 20 changes nothing. */
TEST(an_outlier)
{
    double a[20], b[20];
    for (int i = 0; i < 20; i++) {
        a[i] = 1 + 0.01 * i;
        b[i] = 2 + 0.01 * i;
    }
    a[7] = 60;
    struct tune_interval fast = tune_interval(a, 20), slow = tune_interval(b, 20);
    expect(tune_is_faster(&fast, &slow) && !tune_is_faster(&slow, &fast) && tune_is_slower(&slow, &fast));
    struct tune_interval fast_of_five = tune_interval(a + 5, 5);
    expect(!tune_is_faster(&fast_of_five, &slow)); /* of 5 it does */
}

TEST(clearly_faster)
{
    struct tune_interval base = {.low = 4.0, .median = 4.1, .high = 4.3};
    struct tune_interval apart = {.low = 3.0, .median = 3.1, .high = 3.9};
    struct tune_interval touches = {.low = 3.0, .median = 3.1, .high = 4.0};
    struct tune_interval little = {.low = 3.97, .median = 3.98, .high = 3.99};
    struct tune_interval exact = {.low = 4.1, .median = 4.1, .high = 4.1},
                         hardly = {.low = 4.08, .median = 4.08, .high = 4.08};
    expect(tune_is_faster(&apart, &base));
    expect(!tune_is_faster(&touches, &base));
    expect(tune_is_faster(&little, &base));
    expect(!tune_is_faster(&hardly, &exact)); /* apart, but not worth a setting */
    expect(!tune_is_faster(&base, &base) && !tune_is_slower(&base, &base));
    expect(tune_is_slower(&base, &apart) && !tune_is_slower(&touches, &base));
}

/* The load of the machine grows: the intervals overlap, the ratios of each round do not. */
TEST(in_turn)
{
    double bare[] = {1.75, 8, 10.8, 14.3, 31.8, 30, 28, 27, 26},
           fast[] = {1.39, 0.8, 0.8, 2.4, 6.1, 6, 5, 5, 5},
           hardly[] = {1.6, 7, 9.8, 13.5, 29, 28, 27, 26, 25};
    struct tune_interval a = tune_interval(fast, 5), b = tune_interval(bare, 5);
    expect(!tune_is_faster(&a, &b) && tune_is_faster_in_turn(fast, bare, 5));
    expect(!tune_is_faster_in_turn(bare, fast, 5) && !tune_is_faster_in_turn(bare, bare, 5));
    expect(!tune_is_faster_in_turn(hardly, bare, 5)); /* faster in each round, but not by much */
    expect(!tune_is_faster_in_turn(fast, bare, 4));   /* too few to tell from chance */
    fast[3] = 60;
    expect(!tune_is_faster_in_turn(fast, bare, 5) && tune_is_faster_in_turn(fast, bare, 9)); /* one outlier */
}

static bool has(const struct tune_option *options, size_t count, const char *setting) {
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            if (!strcmp(options[i].settings[k], setting))
                return true;
    return false;
}

TEST(nothing_to_try)
{
    struct tune_option options[TUNE_OPTIONS];
    struct tune_seen idle = {.one_sided = 0.01, .messages = 0.015};
    expect(!tune_plan_wants_check(&idle) && tune_plan_first(&idle, NULL, options) == 0);
    struct tune_seen cheap = {
        .gets = 1000000, .one_sided = 0.01, .acquire = 0.9}; /* reuse, but no time in it */
    expect(!tune_plan_wants_check(&cheap) && tune_plan_first(&cheap, NULL, options) == 0);
}

TEST(acquire_only_after_a_check)
{
    struct tune_option options[TUNE_OPTIONS];
    struct tune_seen seen = {.gets = 1000, .one_sided = 0.5, .acquire = 0.9};
    struct tune_cache_seen cache = {.hits = 0.9};
    expect(tune_plan_wants_check(&seen));
    size_t count = tune_plan_first(&seen, NULL, options); /* stale, or not checked */
    expect(count == 1 && has(options, count, "HEARTH_WINDOWS=serve"));
    count = tune_plan_first(&seen, &cache, options);
    expect(count == 2 && has(options, count, "HEARTH_MODE=acquire"));
    seen.hits = 0.88; /* the transparent mode serves as much */
    expect(!tune_plan_wants_check(&seen));
    count = tune_plan_first(&seen, NULL, options);
    expect(count == 2 && !*options[0].settings[0]); /* default settings */
}

TEST(cache_size)
{
    struct tune_option options[TUNE_OPTIONS];
    struct tune_seen seen = {.gets = 1000, .one_sided = 0.5, .acquire = 0.9};
    struct tune_cache_seen cache = {.hits = 0.5, .size = 64 << 20};
    size_t count = tune_plan_first(&seen, &cache, options);
    expect(count == 3 && has(options, count, "HEARTH_CACHE_SIZE=65536k"));
    cache.most = 1ull << 30;
    count = tune_plan_first(&seen, &cache, options);
    expect(has(options, count, "HEARTH_CACHE_MAX=1024m"));
    cache.hits = 0; /* only the larger one serves anything */
    expect(tune_plan_first(&seen, &cache, options) == 2);
}

TEST(messages)
{
    struct tune_option options[TUNE_OPTIONS];
    struct tune_seen seen = {.messages = 0.3};
    struct strvec best = {0};
    expect(tune_plan_first(&seen, NULL, options) == 1 && has(options, 1, "HEARTH_MATCH=on"));
    strvec_add(&best, "HEARTH_MATCH=on");
    expect(tune_plan_second(&seen, NULL, &best, options) == 0); /* no idle core for a heater */
    seen.has_idle_core = true;
    expect(tune_plan_second(&seen, NULL, &best, options) == 1 && has(options, 1, "HEARTH_HEATER_LEVEL=any"));
    strvec_free(&best);
}

TEST(additions_to_acquire)
{
    struct tune_option options[TUNE_OPTIONS];
    struct tune_seen seen = {.gets = 1000, .one_sided = 0.5, .acquire = 0.9};
    struct tune_cache_seen cache = {.hits = 0.5};
    struct strvec best = {0};
    expect(tune_plan_second(&seen, &cache, &best, options) == 0);
    strvec_add(&best, "HEARTH_WINDOWS=serve");
    expect(tune_plan_second(&seen, &cache, &best, options) == 0 && !tune_plan_acquires(&best));
    strvec_add(&best, "HEARTH_MODE=acquire"); /* in any position */
    expect(tune_plan_acquires(&best));
    expect(tune_plan_second(&seen, &cache, &best, options) == 1 && has(options, 1, "HEARTH_READ_AHEAD=8"));
    cache.hits = 0.99; /* nothing left to read ahead */
    expect(tune_plan_second(&seen, &cache, &best, options) == 0);
    seen.has_idle_core = true;
    expect(tune_plan_second(&seen, &cache, &best, options) == 1 && has(options, 1, "HEARTH_HEATER_INDEX=on"));
    strvec_free(&best);
}
