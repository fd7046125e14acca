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
