/* check.h: HEARTH_CHECK=1: is what the cache serves what the target holds? Every hit is fetched as well and
 * compared when it has come; the program gets what came. So one run tells whether a mode is safe for a
 * program. */
#ifndef HEARTH_MPI_CHECK_H
#define HEARTH_MPI_CHECK_H

#include "mpi/rma/rma.h"

extern HIDDEN bool check_is_on; /* known from the first window on */

/* A call of the program, by name: what it may have learnt of a write from. */
void check_note_slowly(const char *call);
static inline void check_note(const char *call) {
    if (UNLIKELY(check_is_on))
        check_note_slowly(call);
}

/* The number of calls so far, for check_compare to tell what was called since. */
uint32_t check_calls(void);

/* What the cache held of this get was `cached`; what came is in its buffer. Counts, and reports a difference
 * once per place. */
void check_compare(const struct op *op, const void *cached, const void *fresh);

/* At the end: how many hits, how many stale. */
void check_summary(void);

#endif
