/* below.h: the settings by which below_cases.c configures the mock MPI of below.c. */
#ifndef HEARTH_TEST_MPI_BELOW_H
#define HEARTH_TEST_MPI_BELOW_H

#include <mpi.h>
#include <semaphore.h>
#include <stdbool.h>

struct below {
    volatile bool holds_flush; /* the next flush completes, posts `held` ... */
    sem_t held, go_on;         /* ... and waits for `go_on` before it returns */
    bool fetches_late; /* atomics wait for the flush after them, which waits for a value other than 0 */
    unsigned slow_us;  /* duration of every flush */
    int most_bytes;    /* limit of a get; 0: none */
};

#endif
