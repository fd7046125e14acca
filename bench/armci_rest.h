/* armci_rest.h: what those ranks do that do not measure, and on which cores; without ARMCI, for armci_link as well. */
#ifndef HEARTH_BENCH_ARMCI_REST_H
#define HEARTH_BENCH_ARMCI_REST_H

#include <mpi.h>

#include "rig.h"

/* Binds this rank to the first or the second half of the cores that it may use: two nodes share none. With one core
 * nothing happens. */
void rest_bind(bool second);

/* Keeps a core busy, without touching memory, until clock_ns() is past that. */
void rest_compute_until(uint64_t end);

/* Whether there is this way to rest: wait (in MPI), sleep, compute. */
bool rest_is_way(const char *word);

/* Until all ranks have come here: those who measured wait in MPI, the others in this way. Who computes is so nice: there
 * may be fewer cores than ranks, and a node of the paper's has one for each. Only the calling thread is, not
 * a helper thread that the library has. */
void rest_until_all(bool measured, const char *way, int niceness);

#endif
