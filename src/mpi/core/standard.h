/* standard.h: the parts of the MPI standard that this MPI declares.
 *
 * MPI_VERSION is not enough: Open MPI 5.0 says 3.1, and has the calls of MPI 4.0 except those for large counts. */
#ifndef HEARTH_MPI_STANDARD_H
#define HEARTH_MPI_STANDARD_H

#define HEARTH_MPI_COUNTS (MPI_VERSION >= 4) /* MPI_Send_c and the like */
#if defined OMPI_MAJOR_VERSION
#define HEARTH_MPI_4_0 (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)
#else
#define HEARTH_MPI_4_0 (MPI_VERSION >= 4)
#endif
#define HEARTH_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))
#define HEARTH_MPI_5_0 (MPI_VERSION >= 5)

/* Of the requests of MPI_Request_get_status_all, _any and _some, which some MPIs declare without it (cmake/mpi.cmake). */
#ifdef HEARTH_MPI_NOT_CONST
#define HEARTH_CONST
#else
#define HEARTH_CONST const
#endif

#endif
