/* windows_ucx.h: a bare request and answer over UCX between two ranks that do nothing else: the limit for operations
 * between nodes. */
#ifndef HEARTH_BENCH_WINDOWS_UCX_H
#define HEARTH_BENCH_WINDOWS_UCX_H

#include <stdbool.h>
#include <stddef.h>

/* Collective on MPI_COMM_WORLD, which has two ranks. False: this program was built without UCX, or it has no network. */
bool bare_open(int rank);
void bare_close(void);

/* Rank 0 asks `executions` times for so many bytes, at least 8, and once before that, and returns ns per execution; rank 1
 * answers. The ranks meet before the next call. */
double bare_get(void *into, size_t bytes, int executions);

#endif
