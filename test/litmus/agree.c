/* agree.c: an MPI extension that synchronises, for test_extensions.sh. MPICH declares MPIX_Comm_agree, but on most
 * networks it ends the program; this library, preloaded behind the one under test, replaces it. It looks up the MPI
 * functions behind it: a call by name would reach the library under test, and acquire there. */
#include <dlfcn.h>
#include <mpi.h>

extern const int litmus_agree;
const int litmus_agree = 1; /* lets the test detect this library */

int MPIX_Comm_agree(MPI_Comm comm, int *flag);
int PMPIX_Comm_agree(MPI_Comm comm, int *flag);

int PMPIX_Comm_agree(MPI_Comm comm, int *flag) {
    static int (*combine)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    if (!combine)
        *(void **)&combine = dlsym(RTLD_NEXT, "PMPI_Allreduce");
    return combine(MPI_IN_PLACE, flag, 1, MPI_INT, MPI_BAND, comm);
}

int MPIX_Comm_agree(MPI_Comm comm, int *flag) {
    return PMPIX_Comm_agree(comm, flag);
}
