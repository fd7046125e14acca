/* below.h: what below_cases.c tells the MPI of below.c. */
#ifndef HEARTH_TEST_MPI_BELOW_H
#define HEARTH_TEST_MPI_BELOW_H

#include <mpi.h>
#include <semaphore.h>
#include <stdbool.h>

struct below {
    volatile bool holds_flush; /* the next flush does its work and then waits ... */
    sem_t held, go_on;         /* ... with a post of the one, for one of the other */
    bool fetches_late;         /* atomics wait for the flush behind them, and it for a value other than 0 */
    unsigned slow_us;          /* of every flush */
    int most_bytes;            /* of a get; 0: any */
};

#endif
