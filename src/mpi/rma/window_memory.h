/* window_memory.h: the exchange of the ranks' memory when a window is created. */
#ifndef HEARTH_MPI_WINDOW_MEMORY_H
#define HEARTH_MPI_WINDOW_MEMORY_H

#include "mpi/rma/window/window.h"

/* This process in the exchange. memory.process: its rank in MPI_COMM_WORLD. */
struct window_member {
    struct rma_memory memory;
    uint64_t id; /* a random number that identifies the process if the ranks are of several worlds */
    bool ready;  /* there is memory for the window */
};

/* Collective over comm. True on all ranks: `out` describes all of them. False on all: some rank is not ready, or has no memory. */
bool rma_window_memory_gather(const struct window_member *own, MPI_Comm comm, int rank, int size,
                              struct window_memory *out);
void rma_window_memory_free(struct window_memory *m);

/* Bytes that the first rank of a node needs meanwhile, for a table like this one. */
static inline size_t rma_window_memory_scratch(const struct rma_memory_table *t, int nodes) {
    return (size_t)t->size * (sizeof(int) + t->row_bytes) + 2 * (size_t)nodes * sizeof(int);
}

#endif
