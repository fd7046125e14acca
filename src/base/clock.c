/* clock.c: the length of a tick of the CPU's counter. aarch64 has a register for it; on x86 it is measured once, against
 * the system clock for a millisecond. */
#include "base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 16, CALIBRATION_NS = 1000000 };

/* A moment on both clocks. */
struct moment_read {
    uint64_t ticks, ns;
};

/* The counter is read before and after the clock; of several tries, the one whose readings are closest together has the
 * smallest error: half of the distance. */
static struct moment_read read_both(uint64_t (*ticks)(void), uint64_t (*ns)(void)) {
    struct moment_read best = {0};
    uint64_t narrowest = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = ticks(), now = ns(), width = clock_ticks_between(before, ticks());
        if (width < narrowest) {
            narrowest = width;
            best = (struct moment_read){.ticks = before + width / 2, .ns = now};
        }
    }
    return best;
}

double clock_calibrate(uint64_t (*ticks)(void), uint64_t (*ns)(void)) {
    struct moment_read first = read_both(ticks, ns), last;
    do
        last = read_both(ticks, ns);
    while (last.ns - first.ns < CALIBRATION_NS || last.ticks <= first.ticks);
    return (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
}

bool clock_kernel_uses(const char *path, const char *counter, bool unknown) {
    char name[32] = "";
    size_t length = strlen(counter);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return unknown;
    ssize_t n = read(file, name, sizeof name - 1);
    close(file);
    return n > 0 && !strncmp(name, counter, length) && (!name[length] || name[length] == '\n');
}

/* ---- what this processor has ---- */

#if defined(__x86_64__) || defined(__aarch64__)
bool clock_trusts_counter;

#if !HEARTH_CLOCK_SYSTEM /* simulated time is the system clock of SMPI (sim/smpi.cmake) */
/* Runs before all constructors that could read the clock. A TSC may be unusable, so it must be confirmed. The counter of
 * aarch64 has a constant rate and is the same on all cores, unless the kernel knows better. */
__attribute__((constructor(101))) static void choose_counter(void) {
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
#if defined(__x86_64__)
    clock_trusts_counter = clock_kernel_uses(path, "tsc", false);
#else
    clock_trusts_counter = clock_kernel_uses(path, "arch_sys_counter", true);
#endif
}
#endif
#endif

static double ns_per_tick;

static void set_ns_per_tick(void) {
#if defined(__aarch64__)
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    ns_per_tick = clock_trusts_counter ? 1e9 / (double)hertz : 1;
#elif defined(__x86_64__)
    ns_per_tick = clock_trusts_counter ? clock_calibrate(clock_ticks, clock_ns) : 1;
#else
    ns_per_tick = 1;
#endif
}

double clock_ns_per_tick(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_ns_per_tick);
    return ns_per_tick;
}

const char *clock_source(void) {
#if defined(__aarch64__)
    return clock_trusts_counter ? "the CPU's counter (cntvct_el0)"
                                : "clock_gettime: the kernel does not keep time by the CPU's counter";
#elif defined(__x86_64__)
    return clock_trusts_counter ? "the CPU's counter (TSC)"
                                : "clock_gettime: the kernel does not keep time by the TSC";
#else
    return "clock_gettime";
#endif
}
