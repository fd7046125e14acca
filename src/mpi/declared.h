/* declared.h: all that this MPI declares, its extensions included. The list of calls that acquire is made from it: see acquire.c. */
#ifndef HEARTH_MPI_DECLARED_H
#define HEARTH_MPI_DECLARED_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI's; MPICH's are in mpi.h */
#endif

#endif
