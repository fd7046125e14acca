/* report_calls.c: calls that take no longer than MPI needs, made by one rank to itself, so that the cost of observing them shows.
 *
 *      report_calls messages|gets [--count N]
 *
 * messages: MPI_Irecv, MPI_Send and MPI_Wait. gets: MPI_Get and MPI_Win_flush, of 64 blocks in turn. Prints the nanoseconds of one round, by the
 * fastest of 20 batches. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "sample.h"

enum { BATCHES = 20, BLOCK = 64, BLOCKS = 64 };

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

static void gets(long count) {
    char block[BLOCK];
    for (long i = 0; i < count; i++) {
        MPI_Get(block, BLOCK, MPI_BYTE, 0, i % BLOCKS * BLOCK, BLOCK, MPI_BYTE, window);
        MPI_Win_flush(0, window);
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
        fprintf(
            stderr,
            "report_calls messages|gets [--count N]   on one or two ranks; see the head of report_calls.c\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int is_gets = !strcmp(argv[1], "gets");
    double least = 1e9;
    if (is_gets) {
        MPI_Win_allocate(BLOCK * BLOCKS, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        MPI_Win_lock_all(0, window);
    }
    for (int batch = 0; rank == 0 && batch < BATCHES; batch++) {
        double begun = MPI_Wtime();
        (is_gets ? gets : messages)(count / BATCHES);
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
