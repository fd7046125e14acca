/* find_library.h: files that were built or installed together with this command. */
#ifndef HEARTH_TOOLS_FIND_LIBRARY_H
#define HEARTH_TOOLS_FIND_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

#include "run/launcher/flavour.h"

/* The preload library for this MPI, and the MPI library that it is linked to. */
bool find_library_preload(enum flavour flavour, char path[PATH_MAX], struct mpi_library *host);

/* The program that probes an MPI: hearth-probe. */
bool find_library_probe(enum flavour flavour, char path[PATH_MAX]);

#endif
