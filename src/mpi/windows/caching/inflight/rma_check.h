/* rma_check.h: HEARTH_CHECK=1, which compares the data that the cache serves with the data at the target. Every hit is
 * also fetched, and compared on completion; the program receives the fetched data. One run thus tells whether a mode
 * is safe for a program. */
#ifndef HEARTH_MPI_RMA_CHECK_H
#define HEARTH_MPI_RMA_CHECK_H

#include "base/compiler.h"
#include "mpi/windows/caching/inflight/inflight.h"

extern HIDDEN bool rma_check_is_on; /* set when the first window is created */

/* Records a call of the program by name: it may have informed the program of a write. */
void rma_check_note_slow(const char *call);
static inline void rma_check_note(const char *call) {
    if (UNLIKELY(rma_check_is_on))
        rma_check_note_slow(call);
}

/* The number of calls so far, from which rma_check_compare derives the calls made since. */
uint32_t rma_check_calls(void);

/* Compares the cached data of this get with the fetched data. Counts, and reports a difference once per location. */
void rma_check_compare(const struct op *op, const void *cached, const void *fresh);

/* Logs at the end how many hits were compared and how many were stale: on each rank, also on those without windows, so that a missing
 * line can be noticed. */
void rma_check_summary(void);

#endif
