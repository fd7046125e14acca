/* worth.h: suspension of a cache that costs more time than it saves. If this held over the last HEARTH_SUSPEND gets,
 * the window's gets bypass the cache for a while, and then the cache is tried again. Each suspension is longer than
 * the one before, as long as the cache does not pay off. */
#ifndef HEARTH_MPI_WORTH_H
#define HEARTH_MPI_WORTH_H

#include "mpi/rma/window.h"

/* Start time of this get in ticks, or 0 for the gets that are not timed. */
static inline uint64_t worth_start(const struct window *w) {
    enum { EVERY = 64 };
    return UNLIKELY(!(w->gets % EVERY)) ? clock_ticks() : 0;
}

/* A get that missed took `own` ticks in Hearth and `issue` ticks in MPI. Requires the lock, as all functions here. */
void worth_miss(struct window *w, uint64_t own, uint64_t issue);

/* The next flush of the window is timed, because a get before it was. */
static inline bool worth_wants_flush(const struct window *w) {
    return UNLIKELY(w->worth.timing);
}

/* The timed flush: ticks in Hearth and in MPI, for this number of gets. */
void worth_flush(struct window *w, uint64_t own, uint64_t host, uint64_t gets);

/* Decides if enough gets were made since the last decision. Called for misses only: hits are not evaluated. */
void worth_judge_slowly(struct window *w);
static inline void worth_judge(struct window *w) {
    if (UNLIKELY(w->gets >= w->worth.judge_at))
        worth_judge_slowly(w);
}

/* Ends the suspension. */
void worth_resume(struct window *w);

/* Gets that bypassed the cache while it was suspended. */
uint64_t worth_gets_passed(const struct window *w);

/* Called for each new window. */
void worth_begin(struct window *w);

#endif
