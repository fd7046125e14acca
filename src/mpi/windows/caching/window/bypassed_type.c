/* bypassed_type.c: see bypassed_type.h. */
#include "mpi/windows/caching/window/bypassed_type.h"

struct bypassed_type rma_bypassed_type = {.type = MPI_DATATYPE_NULL};

void rma_bypassed_type_forget(MPI_Datatype type) {
    if (rma_bypassed_type.type == type)
        rma_bypassed_type.type = MPI_DATATYPE_NULL;
}
