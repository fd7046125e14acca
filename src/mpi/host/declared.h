/* declared.h: all declarations of this MPI, including its extensions. The list of calls that acquire is generated
 * from it: see sync_calls.c. */
#ifndef HEARTH_MPI_DECLARED_H
#define HEARTH_MPI_DECLARED_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* Open MPI's; MPICH's are in mpi.h */
#endif

#endif
