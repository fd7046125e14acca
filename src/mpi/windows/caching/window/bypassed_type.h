/* bypassed_type.h: the target type of the last get that bypassed the cache, with its size. Most such gets have one type. */
#ifndef HEARTH_MPI_BYPASSED_TYPE_H
#define HEARTH_MPI_BYPASSED_TYPE_H

#include "base/compiler.h"
#include "mpi/host/host.h"

struct bypassed_type {
    MPI_Datatype type;
    uint64_t size;
};
extern HIDDEN struct bypassed_type rma_bypassed_type;

/* Call when a type is freed: MPI may reuse its handle for another type. */
void rma_bypassed_type_forget(MPI_Datatype type);

#endif
