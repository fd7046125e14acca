/* remote_serve.h: declarations shared by the helper's handlers. */
#ifndef HEARTH_MPI_SERVE_REMOTE_SERVE_H
#define HEARTH_MPI_SERVE_REMOTE_SERVE_H

#include <errno.h>

#include "mpi/windows/serving/remote/remote.h"
#include "mpi/windows/serving/state/vm.h"

/* End the job, after a line about the request. */
_Noreturn void serve_remote_end_job(const struct net_block *b, const char *what);
_Noreturn void serve_remote_refuse(const struct net_block *b);

/* remote_serve_small.c */
enum net_result serve_remote_batch(void *arg, struct net_block *b);

#endif
