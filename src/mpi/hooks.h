/* hooks.h: what happens at each call of the program that Hearth stands in front of. */
#ifndef HEARTH_MPI_HOOKS_H
#define HEARTH_MPI_HOOKS_H

#include "mpi/host.h"

#define HOOK(name, params, args) int hook_##name params;
#define USE(name, params, args)
#include "mpi/calls.def"
#undef HOOK
#undef USE

#endif
