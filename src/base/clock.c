/* clock.c: the length of a tick of the CPU's counter. aarch64 has a register for it; on x86 it is measured once,
 * against the system clock for a millisecond. */
#include "base/clock.h"

#include <pthread.h>

static double ns_per_tick;

static void calibrate(void) {
#if defined(__aarch64__)
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    ns_per_tick = 1e9 / (double)hertz;
#else
    uint64_t t0 = clock_ns(), c0 = clock_ticks(), t1;
    do {
        t1 = clock_ns();
    } while (t1 - t0 < 1000000);
    ns_per_tick = (double)(t1 - t0) / (double)(clock_ticks() - c0);
#endif
}

double clock_ns_per_tick(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, calibrate);
    return ns_per_tick;
}
