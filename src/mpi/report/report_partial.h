/* report_partial.h: reports of jobs that have not reached MPI_Finalize: at intervals, on request, and when a rank ends early.
 *
 * At intervals each rank writes its own report as a part (observe/parts.h), in one of its MPI calls. No rank needs another one for
 * it, and nothing more must be computed when the job is killed: `hearth report` merges the parts that it finds. The rank that ends
 * the job early (MPI_Abort, exit without MPI_Finalize, a signal) adds the reason. */
#ifndef HEARTH_MPI_REPORT_PARTIAL_H
#define HEARTH_MPI_REPORT_PARTIAL_H

#include "base/compiler.h"
#include "mpi/observe/call_time.h"

/* When the next partial report of this process is due, in ticks. */
extern HIDDEN _Atomic uint64_t *report_due;

/* Call after each MPI call, outside of all locks. Only calls that were timed compare: no clock is read. */
void report_partial_write(void);
static inline __attribute__((always_inline)) void report_partial_poll(const struct call_timer *t) {
    if (UNLIKELY(t->begin && t->begin > atomic_load_explicit(report_due, memory_order_relaxed)))
        report_partial_write();
}

/* At the end of MPI_Init. Collective. */
void report_partial_open(void);

/* The rank ends the job early: `how` says by what, as in "called MPI_Abort". On a thread of the program. */
void report_partial_end(const char *how);

/* In MPI_Finalize: no more partial reports from now on; the report is written, so this rank's part is removed. */
void report_partial_stop(void);
void report_partial_remove(void);

/* report_signal.c: signals that end the process write a last report first. */
void report_signal_open(void);
void report_signal_close(void);
/* Adds the reason to the parts. Async-signal-safe. */
void report_partial_signal(const char *what);

#endif
