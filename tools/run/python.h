/* python.h: the MPI of a Python program, which the interpreter does not show: mpi4py loads it at run time. */
#ifndef HEARTH_TOOLS_PYTHON_H
#define HEARTH_TOOLS_PYTHON_H

#include <limits.h>
#include <stdbool.h>

#include "run/launcher/flavour.h"

/* Whether the name is that of a Python interpreter. */
bool python_is_interpreter(const char *path);

/* The mpi4py that this interpreter would import, and its MPI. False if none was found. Nothing is run: the folders
 * are searched in the order of sys.path, which a program may change. */
bool python_mpi(const char *interpreter, char module[PATH_MAX], struct mpi_library *mpi);

#endif
