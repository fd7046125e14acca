/* clock.h: a clock that costs a few nanoseconds to read, for timeouts on hot paths.
 *
 * It reads the CPU's own counter without serialising, so two readings may be out of order by some instructions. Where
 * the kernel does not keep time by that counter (a TSC that stops, changes its rate or differs between cores; a counter
 * of aarch64 with an erratum) it reads the system clock, as on other architectures. Ticks are converted to nanoseconds only through clock_ns_per_tick, never by assumption,
 * and subtracted only by clock_ticks_between. */
#ifndef HEARTH_CLOCK_H
#define HEARTH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__) || defined(__aarch64__)
extern bool clock_trusts_counter; /* set when the library is loaded, constant from then on */
#endif

static inline uint64_t clock_ticks(void) {
#if defined(__aarch64__)
    uint64_t ticks;
    if (__builtin_expect(!clock_trusts_counter, 0))
        return clock_ns();
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#elif defined(__x86_64__)
    return __builtin_expect(clock_trusts_counter, 1) ? __builtin_ia32_rdtsc() : clock_ns();
#else
    return clock_ns();
#endif
}

/* The ticks from one reading to a later one. A thread that moved to another core may read less than before: 0. */
static inline uint64_t clock_ticks_between(uint64_t from, uint64_t to) {
    return to > from ? to - from : 0;
}
static inline uint64_t clock_ticks_since(uint64_t from) {
    return clock_ticks_between(from, clock_ticks());
}

/* Measured once if the architecture does not report it; thread-safe, and cheap from the second call on. */
double clock_ns_per_tick(void);

/* The name of what clock_ticks reads, for `hearth info`. */
const char *clock_source(void);

/* For clock_ns_per_tick and its test: compares a counter with a clock in nanoseconds for a millisecond. A thread that
 * loses its core between two readings does not disturb the result. */
double clock_calibrate(uint64_t (*ticks)(void), uint64_t (*ns)(void));

/* Whether the kernel keeps time by the counter of this name, by the content of its file current_clocksource; `unknown` if
 * that is not readable. */
bool clock_kernel_uses(const char *path, const char *counter, bool unknown);

#endif
