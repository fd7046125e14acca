/* standard.h: the parts of the MPI standard that this MPI declares.
 *
 * MPI_VERSION is not enough: Open MPI 5.0 says 3.1, and has the calls of MPI 4.0 except those for large counts. */
#ifndef HEARTH_MPI_STANDARD_H
#define HEARTH_MPI_STANDARD_H

/* The standard ABI of MPI 5.0, whose mpi.h is no MPI's own. One library then works with every MPI that has the ABI, and what differs
 * between them is decided when it is loaded: host_is_open_mpi. */
#if defined MPI_ABI_VERSION && !defined OPEN_MPI && !defined MPICH_VERSION
#define HEARTH_MPI_ABI 1
typedef int MPI_Fint; /* the ABI leaves Fortran to other libraries; an INTEGER of 4 bytes is assumed */
#define MPI_Win_f2c MPI_Win_fromint
enum { ABI_CONSTANTS = 0x1000 }; /* handles below are predefined, and encode what they are */
#else
#define HEARTH_MPI_ABI 0
#endif

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
