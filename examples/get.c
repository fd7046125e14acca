/* get.c: reads the same words of the next rank repeatedly; the program does not depend on Hearth.
 * build: mpicc.openmpi get.c -o get        run: hearth run --mode always --report - -- mpirun.openmpi -n 2 ./get */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    long *mine, word, sum = 0;
    int me, ranks, next;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (me + 1) % ranks;
    MPI_Win_allocate(64 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    for (int i = 0; i < 64; i++)
        mine[i] = me + i;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 64 * 100; i++) {
        MPI_Get(&word, 1, MPI_LONG, next, i % 64, 1, MPI_LONG, win);
        MPI_Win_flush(next, win);
        sum += word;
    }
    MPI_Win_unlock_all(win);
    if (me == 0)
        printf("get: sum %ld, expected %ld\n", sum, 100L * (64 * next + 63 * 32));
    MPI_Win_free(&win);
    MPI_Finalize();
    return sum != 100L * (64 * next + 63 * 32);
}
