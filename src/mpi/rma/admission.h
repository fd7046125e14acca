/* admission.h: suspension of a cache that costs more time than it saves. If this held over the last HEARTH_SUSPEND gets,
 * the window's gets bypass the cache for a while, and then the cache is tried again. Each suspension is longer than
 * the one before, as long as the cache does not pay off. */
#ifndef HEARTH_MPI_ADMISSION_H
#define HEARTH_MPI_ADMISSION_H

#include "mpi/rma/window.h"

/* Start time of this get in ticks, or 0 for the gets that are not timed. */
static inline uint64_t rma_admission_start(const struct window *w) {
    enum { EVERY = 64 };
    return UNLIKELY(!(w->gets % EVERY)) ? clock_ticks() : 0;
}

/* A get that missed took `own` ticks in Hearth and `issue` ticks in MPI. Requires the lock, as all functions here. */
void rma_admission_miss(struct window *w, uint64_t own, uint64_t issue);

/* The next flush of the window is timed, because a get before it was. */
static inline bool rma_admission_wants_flush(const struct window *w) {
    return UNLIKELY(w->admission.timing);
}

/* The timed flush: ticks in Hearth and in MPI, for this number of gets. */
void rma_admission_flush(struct window *w, uint64_t own, uint64_t host, uint64_t gets);

/* Decides if enough gets were made since the last decision. Called for misses only: hits are not evaluated. */
void rma_admission_judge_slow(struct window *w);
static inline void rma_admission_judge(struct window *w) {
    if (UNLIKELY(w->gets >= w->admission.judge_at))
        rma_admission_judge_slow(w);
}

/* Ends the suspension. */
void rma_admission_resume(struct window *w);

/* Gets that bypassed the cache while it was suspended. */
uint64_t rma_admission_gets_bypassed(const struct window *w);

/* Called for each new window. */
void rma_admission_begin(struct window *w);

#endif
