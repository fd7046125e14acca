/* agree.c: an error on one rank is agreed upon before the next collective step, so that all leave with the same exit
 * code and none waits for the others. */
#include <mpi.h>

#include "common/common.h"

int app_agree(int code, const char *complaint) {
    int highest, rank;
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (highest && complaint && rank == 0)
        app_complain("%s", complaint);
    return highest;
}
