/* record_targets.h: this process's one-sided calls by target: see targets.h. */
#ifndef HEARTH_MPI_RECORD_TARGETS_H
#define HEARTH_MPI_RECORD_TARGETS_H

#include "mpi/observe/targets.h"
#include "mpi/windows/caching/window/window.h"

/* The row of a target for the report; NULL: targets are not observed. Asked for when the target is made. */
struct target_row *rma_record_row(const struct window *w, int target);

/* Moves the gets that the targets have counted to their rows: before these are read, and before the window is freed. Requires the lock. */
void rma_record_collect_window(const struct window *w);
void rma_record_collect(void);

#endif
