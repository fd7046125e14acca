/* slow_network.c: makes every flush that reaches MPI take 5 milliseconds, and prints their number at the end. Preloaded behind the library
 * under test. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int flushes;

int MPI_Win_flush(int target, MPI_Win win) {
    struct timespec delay = {0, 5000000};
    int rc = PMPI_Win_flush(target, win);
    nanosleep(&delay, NULL);
    flushes++;
    return rc;
}

__attribute__((destructor)) static void tell(void) {
    if (flushes)
        fprintf(stderr, "flushes %d\n", flushes);
}
