/* agree.c: an extension of MPI that tells something, for test_extensions.sh. MPICH declares MPIX_Comm_agree, but on most networks it
 * ends the program: this library, preloaded behind the one under test, stands in for it. So what it calls is the MPI behind it;
 * a call of MPI by name would pass the library under test, and acquire there. */
#include <dlfcn.h>
#include <mpi.h>

extern const int litmus_agree;
const int litmus_agree = 1; /* the test looks for it */

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
