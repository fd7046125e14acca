/* records.c: gathers records of all ranks in rank 0. Rank 0 tells the others first whether it has memory for them, so that none
 * waits in vain. */
#include "mpi/core/records.h"

#include <stdlib.h>

#include "mpi/core/host.h"

void *records_gather(const void *own, size_t bytes, int rank, int ranks) {
    void *all = rank ? NULL : calloc((size_t)ranks, bytes);
    int ok = rank || all;
    host_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ok)
        host_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return all;
}
