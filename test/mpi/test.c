/* test.c: begins and ends a job of MPI tests. */
#include "test.h"

#include <stdio.h>
#include <string.h>

int test_threads_wanted = MPI_THREAD_SINGLE, test_threads;

static void begin(int *argc, char ***argv) {
    if (strcmp(test_config(), "servempi") == 0) /* a helper that calls MPI */
        test_threads_wanted = MPI_THREAD_MULTIPLE;
    MPI_Init_thread(argc, argv, test_threads_wanted, &test_threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    if (test_size >= 2)
        return;
    fprintf(stderr, "%s: needs at least 2 ranks\n", (*argv)[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void end(int status) {
    (void)status;
    MPI_Finalize();
}

const struct test_job test_job = {
    .member = "rank", .seconds = 80, .begin = begin, .end = end, .config = test_config};
