/* record_targets.h: this process's one-sided calls by target: see targets.h. */
#ifndef HEARTH_MPI_RECORD_TARGETS_H
#define HEARTH_MPI_RECORD_TARGETS_H

#include "mpi/core/targets.h"

/* A call that succeeded, with a target of this window. Takes the lock. */
void rma_record_target(MPI_Win win, int target, enum target_access what, MPI_Count count, MPI_Datatype type,
                       uint64_t ticks);

#endif
