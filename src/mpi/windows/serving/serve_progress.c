/* serve_progress.c: lets the host MPI progress from calls on served windows, which would not enter it otherwise: a program
 * that only polls a window must still receive its messages. Such a call drives the host's progress if that last
 * happened more than HEARTH_PROGRESS_US ago.
 *
 * The clock is not read at each call. After calls in quick succession, the next reading is up to MOST_POLLS calls away;
 * after a slow one, the next call reads it again. Threads may overwrite each other's counts, which only shifts
 * a reading. */
#include "base/clock.h"
#include "base/settings.h"
#include "mpi/host/progress.h"
#include "mpi/windows/serving/serving.h"

enum { MOST_POLLS = 32 };

_Atomic int32_t serve_progress_left = 1;
static _Atomic uint64_t last, limit; /* ticks */
static _Atomic int32_t stride = 1;   /* polls between two readings of the clock */

void serve_progress_open(void) {
    double ticks = (double)settings_get()->progress_us * 1000 / clock_ns_per_tick();
    atomic_store_explicit(&limit, ticks < 1 ? 1 : (uint64_t)ticks, memory_order_relaxed);
    progress_open();
}

void serve_progress_poll_slow(void) {
    uint64_t now = clock_ticks();
    bool due = clock_ticks_between(atomic_load_explicit(&last, memory_order_relaxed), now) >
               atomic_load_explicit(&limit, memory_order_relaxed);
    int32_t next = atomic_load_explicit(&stride, memory_order_relaxed);
    next = due ? 1 : 2 * next < MOST_POLLS ? 2 * next : MOST_POLLS;
    atomic_store_explicit(&stride, next, memory_order_relaxed);
    atomic_store_explicit(&serve_progress_left, next, memory_order_relaxed);
    if (!due)
        return;
    atomic_store_explicit(&last, now, memory_order_relaxed);
    progress_make();
}
