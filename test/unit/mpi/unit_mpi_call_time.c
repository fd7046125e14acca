/* unit_mpi_call_time.c: tests the time of MPI calls with a simulated clock: every call counts; all are timed where that is affordable, else the
 * estimated time is near the true one, and never more than has passed; nested calls do not count. The clock has a fixed rate, so that every
 * run draws the same samples. */
#include "test.h"

#include "base/clock.h"
#include "observe/json.h"

static uint64_t now = 1, reads;

static uint64_t simulated_ticks(void) {
    reads++;
    return now;
}
#undef clock_ns_per_tick /* of core_names.h */
#define NS_PER_TICK         0.5
#define clock_ticks         simulated_ticks
#define clock_ns_per_tick() NS_PER_TICK
#include "mpi/observe/call_time.c"

/* Returns the ns that it takes, in whole ticks. */
static double call_of(struct call_time *c, uint64_t ns) {
    struct call_timer t = call_time_begin(c, __builtin_frame_address(0));
    uint64_t ticks = (uint64_t)((double)ns / clock_ns_per_tick());
    now += ticks;
    call_time_end(&t);
    return (double)ticks * clock_ns_per_tick();
}

/* As if MPI_Init had just returned. free: timings before they have a limit. */
static void start(bool threads, uint64_t is_free) {
    atomic_store(&called, NULL);
    atomic_store(&callers, 0);
    call_start(threads);
    atomic_store(&timing.ns, (uint64_t)timing.free_ns - is_free * TIMING_NS);
    call_time_is_on = true;
    reads = 0;
}

static double estimate_ns(const struct call_time *c) {
    struct call_total total = call_total(c);
    return (total.timed + total.rest) * clock_ns_per_tick();
}

TEST(off_without_a_report)
{
    struct call_time c = CALL_TIME("MPI_A");
    unsetenv("HEARTH_REPORT");
    call_time_is_on = false;
    call_of(&c, 1000);
    expect_eq(call_time_count(&c), 0);
    expect_eq(reads, 0);
}

TEST(long_calls_are_all_timed)
{
    static struct call_time c = CALL_TIME("MPI_Long");
    double sum = 0;
    start(false, 0);
    for (int i = 1; i <= 1000; i++)
        sum += call_of(&c, (uint64_t)(80000 + 2000 * i));
    expect_eq(call_time_count(&c), 1000);
    expect(estimate_ns(&c) > 0.999 * sum && estimate_ns(&c) < 1.001 * sum);
    expect((double)c.longest * clock_ns_per_tick() > 2.05e6);
}

/* One in 100 short calls waits; the loop has a period, which the distances of samples must not share. Returns the estimated share of the true
 * time. */
static double estimated_share_of_short_calls(void) {
    static struct call_time c;
    enum { CALLS = 1000000 };
    double sum = 0;
    start(false, 0);
    c = (struct call_time)CALL_TIME("MPI_Short");
    for (int i = 0; i < CALLS; i++) {
        uint64_t ns = i % 100 == 7 ? 20000 : 100 + (uint64_t)(i % 3) * 100;
        sum += call_of(&c, ns);
    }
    expect_eq(call_time_count(&c), CALLS);
    expect(reads < CALLS / 8);
    free(atomic_load(&c.spread));
    return estimate_ns(&c) / sum;
}

/* One run of 0.4 s has a standard deviation of 0.14, as few of its samples wait. The mean must show no bias. */
TEST(short_calls_are_sampled)
{
    enum { RUNS = 20 };
    double mean = 0;
    for (int run = 0; run < RUNS; run++) {
        double share = estimated_share_of_short_calls();
        expect(share > 0.3 && share < 1.7);
        mean += share / RUNS;
    }
    printf("estimated %.4f of the true time, on average of %d runs\n", mean, RUNS);
    expect(mean > 0.9 && mean < 1.1);
}

/* A computation of 10 s does not pay for more than the free timings of the calls after it. */
TEST(time_without_calls_is_not_saved_up)
{
    static struct call_time c = CALL_TIME("MPI_After");
    enum { CALLS = 100000, NS = 100 };
    start(false, 0);
    call_of(&c, NS);
    now += (uint64_t)(10e9 / clock_ns_per_tick());
    for (int i = 0; i < CALLS; i++)
        call_of(&c, NS);
    double spent = (double)(reads / 2) * TIMING_NS;
    printf("%.0f clock reads for %d calls\n", (double)reads, CALLS);
    expect(spent < 1.1 * timing.free_ns + 0.0015 * CALLS * NS);
    expect(spent > 0.9 * timing.free_ns);
}

/* As MPI_Get does: most calls take the light path, and of a million a few thousand the other. */
TEST(most_short_calls_are_light)
{
    static struct call_time c = CALL_TIME("MPI_Light");
    enum { CALLS = 1000000, NS = 100 };
    uint64_t light = 0;
    start(false, 1000);
    call_time_allow_light(true);
    for (int i = 0; i < CALLS; i++) {
        bool passes = call_time_passes(&c);
        light += passes;
        if (passes)
            now += (uint64_t)(NS / clock_ns_per_tick());
        else
            call_of(&c, NS);
    }
    double took = (double)(uint64_t)(NS / clock_ns_per_tick()) * clock_ns_per_tick(); /* in whole ticks */
    double spent = (double)(CALLS - light) * TIMING_NS, all = CALLS * took;
    printf("%.0f of %d calls are timed: %.2f %% of the run\n", (double)(CALLS - light), CALLS,
           100 * spent / all);
    expect_eq(call_time_count(&c), CALLS);
    expect(spent < timing.free_ns + 0.0015 * all);
    expect(estimate_ns(&c) > 0.98 * all && estimate_ns(&c) < 1.02 * all);
    call_time_allow_light(false);
    expect(!call_time_passes(&c));
}

/* Inside of a call that is timed no call is light, so that it does not count. */
TEST(calls_inside_of_a_timed_one_are_not_light)
{
    static struct call_time outer = CALL_TIME("MPI_Outer"), inner = CALL_TIME("MPI_Inner");
    start(false, 1000);
    call_time_allow_light(true);
    atomic_store(&inner.until_sample, 100);
    struct call_timer t = call_time_begin(&outer, __builtin_frame_address(0));
    expect(!call_time_passes(&inner));
    call_time_end(&t);
    expect(call_time_passes(&inner));
    call_time_allow_light(false);
}

TEST(nested_calls_do_not_count)
{
    static struct call_time outer = CALL_TIME("MPI_Outer"), inner = CALL_TIME("MPI_Inner");
    start(false, 1000);
    struct call_timer t = call_time_begin(&outer, __builtin_frame_address(0));
    call_of(&inner, 5000);
    now += 1000;
    call_time_end(&t);
    call_of(&inner, 5000);
    expect_eq(call_time_count(&outer), 1);
    expect_eq(call_time_count(&inner), 1);
    expect(estimate_ns(&outer) > 5000);
}

/* 900 calls of 10 us, and 100 that wait for 2 ms. */
TEST(late_calls)
{
    static struct call_time c = CALL_TIME("MPI_Late");
    start(false, 1000);
    for (int i = 0; i < 1000; i++)
        call_of(&c, i % 10 == 3 ? 2000000 : 10000);
    struct call_late late = call_time_late(c.spread);
    expect_eq(late.count, 100);
    expect(late.usual > 9.9e-6 && late.usual < 10.1e-6);
    expect(late.seconds > 0.99 * 100 * 1.99e-3 && late.seconds < 1.01 * 100 * 1.99e-3);
}

/* Ten times as long as usual, or longer but still short: not late. */
TEST(slow_calls_are_not_late)
{
    static struct call_time slow = CALL_TIME("MPI_Slow"), brief = CALL_TIME("MPI_Brief");
    start(false, 1000);
    for (int i = 0; i < 1000; i++) {
        call_of(&slow, i % 10 ? 100000 : 1000000);
        call_of(&brief, i % 10 ? 2000 : 60000);
    }
    expect_eq(call_time_late(slow.spread).count, 0);
    expect_eq(call_time_late(brief.spread).count, 0);
}

/* What the samples of a function stand for adds up to its time, also if it is divided among targets. */
TEST(the_time_of_a_call_is_returned)
{
    static struct call_time c = CALL_TIME("MPI_Named");
    uint64_t near_ticks = 0, far_ticks = 0;
    start(false, 1000);
    for (int i = 0; i < 1000000; i++) {
        struct call_timer t = call_time_begin(&c, __builtin_frame_address(0));
        now += (uint64_t)((i % 4 ? 200 : 600) / clock_ns_per_tick());
        *(i % 4 ? &near_ticks : &far_ticks) += call_time_end(&t);
    }
    expect_eq(c.ticks, near_ticks + far_ticks);
    double far_share = (double)far_ticks / (double)c.ticks;
    expect(far_share > 0.45 && far_share < 0.55);
}

/* The time of the report of one process: in MPI, and the longest of its functions. */
static double reported_seconds(double *most) {
    char *text = NULL;
    size_t length;
    struct json j;
    FILE *file = open_memstream(&text, &length);
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    call_time_json(&j);
    json_close(&j, '}');
    fclose(file);
    *most = 0;
    double all = strtod(strstr(text, "\"seconds\":") + 10, NULL);
    for (const char *at = strstr(text, "\"calls\""); (at = strstr(at, "\"seconds\":"));) {
        double one = strtod(at += 10, NULL);
        *most = one > *most ? one : *most;
    }
    free(text);
    return all;
}

/* Bursts of short calls, each of which ends with a long one: such a call may be a sample that stands for many. */
TEST(no_rank_spends_more_than_its_run_in_mpi)
{
    static struct call_time wait = CALL_TIME("MPI_Wait"), test = CALL_TIME("MPI_Test");
    for (uint64_t seed = 0; seed < 200; seed++) {
        double most;
        start(false, 0);
        wait = (struct call_time)CALL_TIME("MPI_Wait");
        test = (struct call_time)CALL_TIME("MPI_Test");
        uint64_t begun = now;
        for (uint64_t i = 0; i < 500; i++) {
            call_of(&test, 200);
            call_of(&wait, i % 100 == seed % 100 ? 30000000 : 200);
        }
        double run = (double)(now - begun) * clock_ns_per_tick() / 1e9, in_mpi = reported_seconds(&most);
        expect(in_mpi <= 1.0001 * run);
        expect(most <= 1.0001 * run);
        expect(call_time_limit() <= 1);
        free(atomic_load(&wait.spread));
        free(atomic_load(&test.spread));
    }
}

/* Rare long calls among few short ones: timing all is affordable, so nothing is estimated. */
TEST(bursts_are_timed_where_it_is_affordable)
{
    static struct call_time c = CALL_TIME("MPI_Burst");
    double sum = 0, most;
    start(false, 1000);
    for (int i = 0; i < 100000; i++) {
        uint64_t ns = i % 1000 == 999 ? 70000000 : 300;
        sum += call_of(&c, ns);
    }
    double in_mpi = reported_seconds(&most) * 1e9;
    printf("estimated %.5f of the true time\n", in_mpi / sum);
    expect(in_mpi > 0.999 * sum && in_mpi < 1.001 * sum);
}

/* Each thread has the time of the run. */
TEST(threads_add_up)
{
    static struct call_time c = CALL_TIME("MPI_Thread");
    double most;
    start(true, 1000);
    for (int i = 0; i < 100; i++)
        call_of(&c, 1000000);
    expect_eq(call_time_count(&c), 100);
    double one = reported_seconds(&most);
    atomic_store(&callers, 4);
    expect(one > 0.0999 && one < 0.1001);
    expect(call_rest_limit((struct call_total){0, 3.9 * 0.1e9 / clock_ns_per_tick()}) == 1);
    expect(call_rest_limit((struct call_total){0, 8.0 * 0.1e9 / clock_ns_per_tick()}) < 0.51);
}
