/* hooks.h: declares hook_X for every interposed MPI call. */
#ifndef HEARTH_MPI_HOOKS_H
#define HEARTH_MPI_HOOKS_H

#include "mpi/host/host.h"

#define HOOK(name, params, args) int hook_##name params;
#define USE(name, params, args)
#include "mpi/host/calls.def"

#endif
