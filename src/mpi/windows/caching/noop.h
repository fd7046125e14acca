/* noop.h: MPI_Get_accumulate with MPI_NO_OP as a get. */
#ifndef HEARTH_MPI_RMA_NOOP_H
#define HEARTH_MPI_RMA_NOOP_H

#include "mpi/host/host.h"

/* Whether MPI_Get_accumulate with MPI_NO_OP on these elements counts as a get. */
bool rma_noop_is_get(MPI_Count count, MPI_Datatype type);

#endif
