/* saved.c: a program whose gets another mode may save. Arguments: number of gets, number of distinct blocks that are read in turn, puts after
 * each get. Rank 0 reads from rank 1. */
#include <mpi.h>
#include <stdlib.h>

enum { BLOCK = 64 };

int main(int argc, char **argv) {
    int rank, gets = atoi(argv[1]), blocks = atoi(argv[2]), puts = atoi(argv[3]);
    char *base, data[BLOCK];
    MPI_Win win, written;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(BLOCK * blocks, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_allocate(BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &written);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, written);
    for (int i = 0; rank == 0 && i < gets; i++) {
        MPI_Get(data, BLOCK, MPI_BYTE, 1, i % blocks * BLOCK, BLOCK, MPI_BYTE, win);
        MPI_Win_flush(1, win);
        for (int k = 0; k < puts; k++) {
            MPI_Put(data, BLOCK, MPI_BYTE, 1, 0, BLOCK, MPI_BYTE, written);
            MPI_Win_flush(1, written);
        }
    }
    MPI_Win_unlock_all(written);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&written);
    MPI_Win_free(&win);
    MPI_Finalize();
}
