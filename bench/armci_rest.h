/* armci_rest.h: the activity of the ranks that do not measure, and the cores of all ranks. Does not use ARMCI, because
 * armci_link and the vGASNet benches use it too. */
#ifndef HEARTH_BENCH_ARMCI_REST_H
#define HEARTH_BENCH_ARMCI_REST_H

#include <mpi.h>

#include "rig.h"

/* Binds this rank to the first or the second half of the cores that it may use, so that two nodes share none.
 * Has no effect with one core. */
void rest_bind(bool second);

/* Keeps a core busy, without touching memory, until clock_ns() exceeds `end`. */
void rest_compute_until(uint64_t end);

/* Whether the word is a valid activity: wait (in MPI), sleep, compute. */
bool rest_is_way(const char *word);

/* Returns when all ranks have called it: measuring ranks wait in MPI, the others in the given way. A computing
 * rank gets this niceness, because there may be fewer cores than ranks, while a node of the paper has one for
 * each. It applies to the calling thread only, not to a helper thread of the library. */
void rest_until_all(bool measured, const char *way, int niceness);

#endif
