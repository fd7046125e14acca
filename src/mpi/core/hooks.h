/* hooks.h: declares hook_X for every interposed MPI call. */
#ifndef HEARTH_MPI_HOOKS_H
#define HEARTH_MPI_HOOKS_H

#include "mpi/core/host.h"

#define HOOK(name, params, args) int hook_##name params;
#define USE(name, params, args)
#include "mpi/core/calls.def"

/* ---- rma/inflight/rma_request.c: the hooks' work for requests that do not belong to Hearth's messages ----
 *
 * `statuses` are pointers, because MPI_STATUSES_IGNORE is no array: GCC checks that an argument declared as [] has an element. */

int rma_Wait(MPI_Request *request, MPI_Status *status);
/* Records that the request belongs to a send whose completion is no sync event. */
void rma_sent(MPI_Request request);
int rma_Test(MPI_Request *request, int *flag, MPI_Status *status);
int rma_Waitall(int count, MPI_Request requests[], MPI_Status *statuses);
int rma_Testall(int count, MPI_Request requests[], int *flag, MPI_Status *statuses);
int rma_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status);
int rma_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status);
int rma_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses);
int rma_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status *statuses);
int rma_Request_free(MPI_Request *request);
int rma_Request_get_status(MPI_Request request, int *flag, MPI_Status *status);
#if HEARTH_MPI_4_1
int rma_Request_get_status_all(int count, HEARTH_CONST MPI_Request requests[], int *flag,
                               MPI_Status *statuses);
int rma_Request_get_status_any(int count, HEARTH_CONST MPI_Request requests[], int *index, int *flag,
                               MPI_Status *status);
int rma_Request_get_status_some(int count, HEARTH_CONST MPI_Request requests[], int *done, int indices[],
                                MPI_Status *statuses);
#endif

/* rma/bypass.c: the program frees the type. */
void rma_type_forget(MPI_Datatype type);

#endif
