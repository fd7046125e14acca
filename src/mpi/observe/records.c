/* records.c: gathers records of all ranks in rank 0. Rank 0 tells the others first whether it has memory for them, so that none
 * waits in vain. */
#include "mpi/observe/records.h"

#include <stdlib.h>

#include "mpi/host/host.h"

void *records_gather(const void *own, size_t bytes, int rank, int ranks) {
    void *all = rank ? NULL : calloc((size_t)ranks, bytes);
    int ok = rank || all;
    host_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ok)
        host_Gather(own, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return all;
}

void records_gather_range(const struct records_steps *s, int begin, int end, void *into) {
    bool is_in = s->rank >= begin && s->rank < end;
    for (int i = 0; s->counts && i < s->ranks; i++)
        s->counts[i] = i >= begin && i < end ? s->lengths[i] : 0;
    host_Gatherv(s->own, is_in ? s->length : 0, MPI_BYTE, into, s->counts, s->places, MPI_BYTE, 0,
                 MPI_COMM_WORLD);
}
