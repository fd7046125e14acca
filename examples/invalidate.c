/* invalidate.c: a window that is read-only in phases; the program invalidates the cache between phases.
 * build: mpicc.openmpi invalidate.c -o invalidate $(pkg-config --cflags --libs hearth-openmpi)
 * run:   mpirun.openmpi -n 2 ./invalidate */
#include <clampi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    long *mine, word = -1;
    int me, ranks, next, bad = 0;
    MPI_Win win;
    CLAMPI_Stats stats = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    next = (me + 1) % ranks;
    MPI_Win_allocate(64 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    CLAMPI_Set_mode(win, CLAMPI_USER);
    MPI_Win_lock_all(0, win);
    for (long phase = 0; phase < 3; phase++) {
        mine[0] = 10 * phase + me;
        MPI_Win_sync(win);
        MPI_Barrier(MPI_COMM_WORLD); /* all ranks have written */
        MPI_Win_sync(win);
        CLAMPI_Invalidate(win);
        for (int i = 0; i < 1000; i++) {
            MPI_Get(&word, 1, MPI_LONG, next, 0, 1, MPI_LONG, win);
            MPI_Win_flush(next, win);
            bad += word != 10 * phase + next;
        }
        MPI_Barrier(MPI_COMM_WORLD); /* all ranks have read */
    }
    MPI_Win_unlock_all(win);
    CLAMPI_Get_stats(win, &stats);
    if (me == 0)
        printf("invalidate: %d wrong; of %lu gets %lu were hits\n", bad, (unsigned long)stats.gets,
               (unsigned long)stats.full_hits);
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad != 0;
}
