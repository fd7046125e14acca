/* report_calls.c: calls that take no longer than MPI needs, so that the cost of observing them shows.
 *
 *      report_calls messages|gets [--count N] [--blocks N]
 *
 * messages: MPI_Irecv, MPI_Send and MPI_Wait, of rank 0 to itself. gets: MPI_Get and MPI_Win_flush by rank 0 from the last rank, of 64 blocks or
 * N in a fixed random order. Prints the nanoseconds of one round, by the fastest of 20 batches. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "sample.h"

enum { BATCHES = 20, BLOCK = 64 };

static void messages(long count) {
    for (long i = 0; i < count; i++) {
        int sent = 1, received;
        MPI_Request request;
        MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static MPI_Win window;
static int target;
static uint32_t blocks;

/* Not inlined: callgrind counts the instructions of this function and of what it calls. */
void report_calls_gets(long count);
__attribute__((noinline)) void report_calls_gets(long count) {
    char block[BLOCK];
    static struct random dice = {1};
    for (long i = 0; i < count; i++) {
        MPI_Get(block, BLOCK, MPI_BYTE, target, (MPI_Aint)random_below(&dice, blocks) * BLOCK, BLOCK,
                MPI_BYTE, window);
        MPI_Win_flush(target, window);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    char *base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long count = (long)option(argc, argv, "--count", 100000);
    if (argc < 2 || size > 2) {
        fprintf(stderr, "report_calls messages|gets [--count N] [--blocks N]   on one or two ranks; see the "
                        "head of report_calls.c\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int is_gets = !strcmp(argv[1], "gets");
    double least = 1e9;
    if (is_gets) {
        blocks = (uint32_t)option(argc, argv, "--blocks", 64);
        target = size - 1;
        MPI_Win_allocate((MPI_Aint)BLOCK * blocks, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        MPI_Win_lock_all(0, window);
    }
    for (int batch = 0; rank == 0 && batch < BATCHES; batch++) {
        double begun = MPI_Wtime();
        (is_gets ? report_calls_gets : messages)(count / BATCHES);
        double seconds = MPI_Wtime() - begun;
        least = seconds < least ? seconds : least;
    }
    if (rank == 0)
        printf("%.2f\n", least * 1e9 / (double)(count / BATCHES));
    if (is_gets) {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    MPI_Finalize();
}
