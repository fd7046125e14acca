/* gas_comm.h: the job's own communicators. No other header of gas/ includes mpi.h: most files are the same for each MPI. */
#ifndef HEARTH_GAS_COMM_H
#define HEARTH_GAS_COMM_H

#include <mpi.h>

#include "base/compiler.h"
#include "gas/process/process.h"

struct gas_comm {
    MPI_Comm all;  /* all ranks */
    MPI_Comm node; /* the ranks of this node */
};

extern struct gas_comm gas_comm HIDDEN;

#endif
