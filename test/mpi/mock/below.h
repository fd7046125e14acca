/* below.h: the settings by which below_cases.c configures the mock MPI of below.c. */
#ifndef HEARTH_TEST_MPI_BELOW_H
#define HEARTH_TEST_MPI_BELOW_H

#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct below {
    volatile bool holds_flush;     /* the next flush completes, posts `held` ... */
    volatile bool holds_get;       /* likewise: the next get is issued */
    sem_t held, go_on;             /* ... and waits for `go_on` before it returns */
    volatile bool holds_exchanges; /* every MPI_Allgather and MPI_Allreduce of `thread` does the same */
    bool meets;                    /* `thread` creates windows and communicators when all ranks do */
    pthread_t thread;
    bool fetches_late; /* atomics are executed by the next flush, which waits until the value is not 0 */
    bool puts_late;    /* a put is executed by the next flush of its target; one at a time */
    bool two_worlds;   /* no rank of a group is found in another group */
    bool fails_gather; /* MPI_Allgather fails */
    unsigned slow_us;  /* additional duration of every flush */
    unsigned map_us;   /* additional duration of every mmap */
    int most_bytes;    /* larger gets fail; 0: none */
};

#endif
