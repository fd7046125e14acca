/* hooked.h: lists the calls that are hooked on this MPI, preprocessed, for sync_calls.awk. */
#ifndef HEARTH_MPI_HOOKED_H
#define HEARTH_MPI_HOOKED_H

#include <mpi.h>

#include "standard.h"

#define HOOK(name, params, args) HEARTH_HOOKED name
#define USE(name, params, args)
#include "calls.def"

#endif
