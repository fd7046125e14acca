/* unexpected.h: the length of MPI's queue of unexpected messages, where MPI tells it (MPI_T), sampled for the report. */
#ifndef HEARTH_MPI_UNEXPECTED_H
#define HEARTH_MPI_UNEXPECTED_H

#include "base/compiler.h"
#include "mpi/host/host.h"
#include "observe/json.h"

/* Call in MPI_Init, if it is to be sampled: from one of the first receives on. threads: several may call MPI at once. */
void unexpected_open(bool threads);

/* Call at each post of a receive; not by several threads at once. Mostly a decrement. */
extern HIDDEN uint32_t unexpected_left; /* posts up to and including the next sample; 0: MPI does not tell */
void unexpected_sample_slow(void);
static inline void unexpected_sample(void) {
    if (UNLIKELY(unexpected_left == 1))
        unexpected_sample_slow();
    else if (unexpected_left)
        unexpected_left--;
}

/* Writes the member "unexpected", unless MPI did not tell. */
void unexpected_json(struct json *j);

#endif
