/* serve_agree.h: decisions that all ranks of a window must take alike, while MPI calls fail on some of them. */
#ifndef HEARTH_MPI_SERVE_AGREE_H
#define HEARTH_MPI_SERVE_AGREE_H

#include "mpi/host/host.h"

/* Whether `mine` is true on all ranks. Collective over `comm`. */
bool serve_agree(bool mine, MPI_Comm comm);

/* Makes a communicator of all ranks of `comm`, in their order, whose error handler returns. False: not all ranks could.
 * Collective over `comm`. */
bool serve_agree_copy(MPI_Comm comm, MPI_Comm *copy);

/* Ends the job: an exchange failed here. The other ranks have the result, or wait for this one. */
_Noreturn void serve_agree_broken(const char *what);

#endif
