/* unit_clock.c: tests the calibration of the CPU's counter against clocks that are disturbed, and the differences of readings. */
#include "base/clock.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A simulated machine: time passes with every reading, and now and then another process gets the core. */
static struct {
    uint64_t ns, reads, pause_every, pause_ns;
    double ticks_per_ns;
} machine;

static void pass(void) {
    machine.ns += 25;
    if (machine.pause_every && ++machine.reads % machine.pause_every == 0)
        machine.ns += machine.pause_ns;
}

static uint64_t read_ns(void) {
    pass();
    return machine.ns;
}

static uint64_t read_ticks(void) {
    pass();
    return (uint64_t)((double)machine.ns * machine.ticks_per_ns);
}

static void expect_calibrated(double ticks_per_ns, uint64_t pause_every, uint64_t pause_ns) {
    machine.ns = 1000, machine.reads = 0;
    machine.pause_every = pause_every, machine.pause_ns = pause_ns, machine.ticks_per_ns = ticks_per_ns;
    expect(fabs(clock_calibrate(read_ticks, read_ns) * ticks_per_ns - 1) < 1e-3);
}

TEST(counters_of_all_rates)
{
    static const double rates[] = {0.001, 0.025, 1, 2.1, 3.7};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        expect_calibrated(rates[i], 0, 0);
}

TEST(pauses_between_the_readings_do_not_matter)
{
    for (uint64_t every = 4; every < 40; every++)
        expect_calibrated(2.1, every, 4000000);
}

TEST(a_step_back_is_no_time)
{
    expect_eq(clock_ticks_between(100, 250), 150);
    expect_eq(clock_ticks_between(250, 100), 0);
    expect_eq(clock_ticks_since(UINT64_MAX), 0);
}

static bool uses(const char *counter, const char *content) {
    char path[] = "/tmp/unit_clock.XXXXXX";
    int file = mkstemp(path);
    expect(file >= 0 && write(file, content, strlen(content)) == (ssize_t)strlen(content));
    close(file);
    bool is_used = clock_kernel_uses(path, counter, false);
    expect_eq(clock_kernel_uses(path, counter, true), is_used); /* the file is readable */
    unlink(path);
    return is_used;
}

TEST(the_kernels_clocksource_decides)
{
    expect(uses("tsc", "tsc\n"));
    expect(uses("tsc", "tsc"));
    expect(!uses("tsc", "tsc-early\n"));
    expect(!uses("tsc", "hpet\n"));
    expect(!uses("tsc", ""));
    expect(uses("arch_sys_counter", "arch_sys_counter\n"));
    expect(!uses("arch_sys_counter", "arch_mmio_counter\n"));
    expect(!uses("arch_sys_counter", "a clocksource with a longer name than there is room for\n"));
    expect(!clock_kernel_uses("/nonexistent/current_clocksource", "tsc", false));
    expect(clock_kernel_uses("/nonexistent/current_clocksource", "arch_sys_counter", true));
}

TEST(ticks_are_nanoseconds_after_conversion)
{
    uint64_t ns = clock_ns(), ticks = clock_ticks();
    while (clock_ns() - ns < 2000000)
        ;
    double took = (double)clock_ticks_since(ticks) * clock_ns_per_tick();
    expect(took > 1.9e6); /* a pause can only make it longer */
    expect(*clock_source());
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(an_untrusted_counter_is_not_read)
{
    bool before = clock_trusts_counter;
    clock_trusts_counter = false;
    uint64_t from = clock_ns(), between = clock_ticks(), to = clock_ns();
    expect(from <= between && between <= to);
    expect(strstr(clock_source(), "clock_gettime"));
    clock_trusts_counter = before;
}
#endif
