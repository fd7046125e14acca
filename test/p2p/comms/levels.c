/* levels.c: ranks with different thread levels. Rank 0 has MPI_THREAD_MULTIPLE, the others MPI_THREAD_SINGLE; all of
 * them create communicators together. */
#include "message.h"

#include <pthread.h>
#include <stdlib.h>

enum { ROUNDS = 40 };

/* The level is chosen before MPI_Init_thread, when only the launcher knows the rank. */
static bool is_first(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i]);
        if (rank)
            return atoi(rank) == 0;
    }
    return false;
}

__attribute__((constructor)) static void choose_level(void) {
    test_threads_wanted = is_first() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

static bool levels_differ(void) {
    int least, most;
    MPI_Allreduce(&test_threads, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&test_threads, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return least < MPI_THREAD_MULTIPLE && most == MPI_THREAD_MULTIPLE;
}

/* Sends around the ring of this communicator, and makes a collective call on it. */
static void use(MPI_Comm comm, int value) {
    int rank, size, in = -1;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int out = 1000 * rank + value, from = (rank + size - 1) % size;
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 3, &in, 1, MPI_INT, from, 3, comm, MPI_STATUS_IGNORE);
    expect_eq(in, 1000 * from + value);
    MPI_Barrier(comm);
}

CASE(split_and_dup) {
    SKIP_IF(!levels_differ(), "all ranks have one thread level");
    for (int i = 0; i < 3; i++) {
        MPI_Comm reversed, copy;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -test_rank, &reversed);
        use(reversed, i);
        MPI_Comm_dup(reversed, &copy);
        use(copy, 10 + i);
        use(reversed, 20 + i);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&reversed);
    }
}

/* Rank 0 creates communicators of its own meanwhile, in another thread. */
static void *create_own(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm own;
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &own);
        use(own, i);
        MPI_Comm_free(&own);
    }
    return arg;
}

CASE(created_at_once_by_threads_of_one_rank) {
    SKIP_IF(!levels_differ(), "all ranks have one thread level");
    pthread_t thread;
    if (test_threads == MPI_THREAD_MULTIPLE)
        pthread_create(&thread, NULL, create_own, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm all;
        MPI_Comm_split(MPI_COMM_WORLD, 0, test_rank, &all);
        use(all, i);
        MPI_Comm_free(&all);
    }
    if (test_threads == MPI_THREAD_MULTIPLE)
        pthread_join(thread, NULL);
}
