/* alloc.h: memory of MPI_Alloc_mem, which other processes of the node can map, so that windows over it are shared
 * memory. */
#ifndef HEARTH_MPI_SERVE_ALLOC_H
#define HEARTH_MPI_SERVE_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/host/host.h"

/* `bytes` > 0 bytes, aligned to 64, or to the page size if there are that many. NULL: there is no shared memory for them,
 * and the host allocates them. Any thread. */
void *serve_alloc_take(uint64_t bytes);

/* The alignment that the program asks for in MPI's own key; 0: any. */
uint64_t serve_alloc_alignment(MPI_Info info);

/* False: the memory is not from serve_alloc_take. */
bool serve_alloc_give(void *memory);

#endif
