/* agree.c: agrees on an error of one rank before the next collective step, so that all ranks exit with the same
 * code and none waits for another. */
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
