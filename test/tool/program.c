/* program.c: ten equal gets with their flushes, in mode always, from each rank to the next. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    int rank, size, wrong = 0;
    char *base, buffer[64];
    MPI_Win win;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Info_create(&info);
    MPI_Info_set(info, "clampi_mode", "always");
    MPI_Win_allocate(4096, 1, info, MPI_COMM_WORLD, &base, &win);
    memset(base, 'a' + rank, 4096);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    int next = (rank + 1) % size;
    for (int i = 0; i < 10; i++) {
        memset(buffer, 0, sizeof buffer);
        MPI_Get(buffer, 64, MPI_BYTE, next, 128, 64, MPI_BYTE, win);
        MPI_Win_flush(next, win);
        wrong += buffer[0] != 'a' + next || buffer[63] != 'a' + next;
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    MPI_Finalize();
    return wrong != 0;
}
