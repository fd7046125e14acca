/* clock.h: a clock that costs a few nanoseconds to read, for timeouts on hot paths.
 *
 * It reads the CPU's own counter without serialising, so two readings may be out of order by some instructions. Ticks
 * are converted to nanoseconds only through clock_ns_per_tick, never by assumption. */
#ifndef HEARTH_CLOCK_H
#define HEARTH_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_ticks(void) {
#if defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#elif defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return clock_ns();
#endif
}

/* Measured once if the architecture does not report it; thread-safe, and cheap from the second call on. */
double clock_ns_per_tick(void);

#endif
