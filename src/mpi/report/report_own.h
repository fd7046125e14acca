/* report_own.h: the report of this rank alone, while the program runs. */
#ifndef HEARTH_MPI_REPORT_OWN_H
#define HEARTH_MPI_REPORT_OWN_H

#include <stddef.h>

/* The report as JSON, to be freed; NULL if memory ran out or another thread holds the lock: an exit may come from any place. `ranks`:
 * those of the job. `partial`: why it is partial. No other thread may be in MPI unless it provides MPI_THREAD_MULTIPLE. */
char *report_own(int rank, int ranks, const char *partial, size_t *length);

#endif
