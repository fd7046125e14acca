/* worth.h: does the cache of a window save more time than it takes? If over the last HEARTH_SUSPEND gets it did not, the window's
 * gets go to MPI untouched for a while, and then it is tried again; each time for longer, as long as it does not pay. */
#ifndef HEARTH_MPI_WORTH_H
#define HEARTH_MPI_WORTH_H

#include "mpi/rma/window.h"

/* When to begin to time this get: ticks, or 0 for most. */
static inline uint64_t worth_start(const struct window *w) {
    enum { EVERY = 64 };
    return UNLIKELY(!(w->gets % EVERY)) ? clock_ticks() : 0;
}

/* A get that missed took `own` ticks of ours and `issue` of MPI's. Under the lock, as for all here. */
void worth_miss(struct window *w, uint64_t own, uint64_t issue);

/* The next flush of a window is to be timed, since a get before it was. */
static inline bool worth_wants_flush(const struct window *w) {
    return UNLIKELY(w->worth.timing);
}

/* That flush: ticks of ours and of MPI's, for so many gets. */
void worth_flush(struct window *w, uint64_t own, uint64_t host, uint64_t gets);

/* Judges if enough gets went by since the last time. Called for misses only: who hits needs no judge. */
void worth_judge_slowly(struct window *w);
static inline void worth_judge(struct window *w) {
    if (UNLIKELY(w->gets >= w->worth.judge_at))
        worth_judge_slowly(w);
}

/* The suspension is over. */
void worth_resume(struct window *w);

/* Gets that went past the cache while it was suspended. */
uint64_t worth_gets_passed(const struct window *w);

/* With each new window. */
void worth_begin(struct window *w);

#endif
