/* rma_progress.c: progress for peers. A rank whose gets all hit does not call MPI, but its peers may wait for it to do
 * so: over TCP, neither MPI serves one-sided operations of other ranks in the background. After some time without a
 * call, the next hit or elided flush therefore makes one.
 *
 * Reading the clock takes as long as half a hit, so it is not read at each poll. After polls in quick succession, the
 * next reading is up to MOST_POLLS polls away; after a slow one, the next poll reads again. Threads may overwrite
 * each other's counts, which only shifts a reading. */
#include "mpi/windows/caching/window/rma_progress.h"

#include "base/clock.h"
#include "base/settings.h"
#include "mpi/host/progress.h"

enum { MOST_POLLS = 16 };

_Atomic bool rma_progress_fresh;
_Atomic int32_t rma_progress_left = 1;

/* last: the last known call into MPI. limit: the longest time without one. Both in ticks. */
static _Atomic uint64_t last, limit;
static _Atomic uint32_t stride = 1; /* polls between two readings of the clock */

void rma_progress_start(void) {
    double ticks = (double)settings_get()->progress_us * 1000 / clock_ns_per_tick();
    atomic_store_explicit(&limit, ticks < 1 ? 1 : (uint64_t)ticks, memory_order_relaxed);
    progress_open();
    rma_progress_note();
}

void rma_progress_poll_slow(void) {
    uint64_t now = clock_ticks(), most = atomic_load_explicit(&limit, memory_order_relaxed),
             since = clock_ticks_between(atomic_load_explicit(&last, memory_order_relaxed), now);
    uint32_t next = atomic_load_explicit(&stride, memory_order_relaxed);
    bool called = atomic_exchange_explicit(&rma_progress_fresh, false, memory_order_relaxed);
    if (since > most && !called)
        progress_make();
    if (since > most || called)
        atomic_store_explicit(&last, now, memory_order_relaxed);
    next = since > most ? 1 : 2 * next < MOST_POLLS ? 2 * next : MOST_POLLS;
    atomic_store_explicit(&stride, next, memory_order_relaxed);
    atomic_store_explicit(&rma_progress_left, (int32_t)next, memory_order_relaxed);
}
