/* busy_target.c: flushes that reach MPI return at once at first, and later wait, as for a target that computes. Preloaded behind the library under
 * test. Nothing in the first flushes takes time, so they are short on a busy machine, too. */
#include <mpi.h>
#include <time.h>

enum { QUICK = 300 };

int MPI_Win_flush(int target, MPI_Win win) {
    static int flushes;
    struct timespec delay = {0, 5000000};
    if (flushes++ < QUICK)
        return MPI_SUCCESS;
    int rc = PMPI_Win_flush(target, win);
    nanosleep(&delay, NULL);
    return rc;
}
