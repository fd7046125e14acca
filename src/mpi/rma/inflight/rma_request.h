/* rma_request.h: the requests of gets. */
#ifndef HEARTH_MPI_RMA_REQUEST_H
#define HEARTH_MPI_RMA_REQUEST_H

#include "mpi/rma/window/window.h"

extern HIDDEN _Atomic uint64_t rma_request_count; /* incomplete operations with a request */
void rma_request_track(uint32_t op, MPI_Request request);
/* The completion of this request is no sync event: it carries no information from another process. Requires the lock. */
void rma_request_mark_nonsync(MPI_Request request);

#endif
