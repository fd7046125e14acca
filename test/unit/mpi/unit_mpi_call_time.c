/* unit_mpi_call_time.c: tests the time of MPI calls with a simulated clock: every call counts, the estimated time is near the true one although
 * short calls are sampled, long calls are all timed, and nested calls do not count. */
#include "test.h"

#include "base/base.h"

static uint64_t now = 1, reads;

static uint64_t simulated_ticks(void) {
    reads++;
    return now;
}
#define clock_ticks simulated_ticks
#include "mpi/core/call_time.c"

static void call_of(struct call_time *c, uint64_t ns) {
    struct call_timer t = call_time_begin(c, __builtin_frame_address(0));
    now += (uint64_t)((double)ns / clock_ns_per_tick());
    call_time_end(&t);
}

static double estimate_ns(const struct call_time *c) {
    return (double)c->ticks * clock_ns_per_tick();
}

TEST(off_without_a_report)
{
    struct call_time c = CALL_TIME("MPI_A");
    unsetenv("HEARTH_REPORT");
    call_time_is_on = false;
    call_of(&c, 1000);
    expect_eq(c.count, 0);
    expect_eq(reads, 0);
}

TEST(long_calls_are_all_timed)
{
    static struct call_time c = CALL_TIME("MPI_Long");
    double sum = 0;
    short_ticks = (uint64_t)(SHORT_NS / clock_ns_per_tick());
    call_time_is_on = true;
    for (int i = 1; i <= 1000; i++) {
        call_of(&c, (uint64_t)(2000 * i));
        sum += 2000.0 * i;
    }
    expect_eq(c.count, 1000);
    expect(estimate_ns(&c) > 0.999 * sum && estimate_ns(&c) < 1.001 * sum);
    expect((double)c.longest * clock_ns_per_tick() > 1.99e6);
}

/* One in 100 short calls waits; the loop has a period, which the distances of samples must not share. */
TEST(short_calls_are_sampled)
{
    static struct call_time c = CALL_TIME("MPI_Short");
    enum { CALLS = 1000000 };
    double sum = 0;
    reads = 0;
    for (int i = 0; i < CALLS; i++) {
        uint64_t ns = i % 100 == 7 ? 20000 : 100 + (uint64_t)(i % 3) * 100;
        sum += (double)ns;
        call_of(&c, ns);
    }
    printf("%.0f clock reads for %d calls; estimated %.4f of the true time\n", (double)reads, CALLS,
           estimate_ns(&c) / sum);
    expect_eq(c.count, CALLS);
    expect(reads < CALLS / 2);
    expect(estimate_ns(&c) > 0.93 * sum && estimate_ns(&c) < 1.07 * sum);
}

TEST(nested_calls_do_not_count)
{
    static struct call_time outer = CALL_TIME("MPI_Outer"), inner = CALL_TIME("MPI_Inner");
    struct call_timer t = call_time_begin(&outer, __builtin_frame_address(0));
    call_of(&inner, 5000);
    now += 1000;
    call_time_end(&t);
    call_of(&inner, 5000);
    expect_eq(outer.count, 1);
    expect_eq(inner.count, 1);
    expect(estimate_ns(&outer) > 5000);
}

/* 900 calls of 10 us, and 100 that wait for 2 ms. */
TEST(late_calls)
{
    static struct call_time c = CALL_TIME("MPI_Late");
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
    for (int i = 0; i < 100000; i++) {
        struct call_timer t = call_time_begin(&c, __builtin_frame_address(0));
        now += (uint64_t)((i % 4 ? 200 : 600) / clock_ns_per_tick());
        *(i % 4 ? &near_ticks : &far_ticks) += call_time_end(&t);
    }
    expect_eq(c.ticks, near_ticks + far_ticks);
    double far_share = (double)far_ticks / (double)c.ticks;
    expect(far_share > 0.45 && far_share < 0.55);
}
