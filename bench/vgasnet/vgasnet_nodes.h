/* vgasnet_nodes.h: shared parts of the vGASNet benches: the job, data on the NVM of one rank, and ranks that
 * rest.
 *
 * The programs use the public interfaces of GASNet and vGASNet, and MPI to gather results. Each rank is a node.
 * The same programs run with segments in pages and, with HEARTH_NVM=off, on plain GASNet. Every run checks the
 * data. */
#ifndef HEARTH_BENCH_VGASNET_NODES_H
#define HEARTH_BENCH_VGASNET_NODES_H

#include <vgasnet.h>

#include "armci_rest.h"

struct nodes {
    int rank, size;
    bool paged;  /* false with HEARTH_NVM=off */
    size_t page; /* bytes: --page, which must equal HEARTH_PAGE_SIZE */
    gasnet_seginfo_t *segments;
};
extern struct nodes nodes;

/* Starts MPI and GASNet, with a segment of this many bytes at each rank. Parses --page. `count`, the number of handlers,
 * may be 0. */
void nodes_start(int argc, char **argv, size_t bytes, gasnet_handlerentry_t *handlers, int count);

/* Collective; does not return. */
void nodes_end(void) __attribute__((noreturn));

/* Ends the job: a fast wrong answer is not a result. */
void nodes_stop(const char *why) __attribute__((noreturn));

void nodes_barrier(void);

static inline char *nodes_at(int rank, size_t offset) {
    return (char *)nodes.segments[rank].addr + offset;
}

/* Writes the first `bytes` of that rank's segment. They are then on its NVM and in no node's memory (this needs
 * HEARTH_NVM_NAME); without pages they are in memory. Collective. */
void nodes_fill(int rank, size_t bytes);

/* Ends the job unless the buffer holds what nodes_fill wrote at this offset; checks the first and the last word. */
void nodes_verify(const char *buffer, size_t offset, size_t bytes);

/* Gets, or gets and writes back, all pages of [offset, offset + bytes), so that they are in this rank's memory. */
void nodes_hold(int rank, size_t offset, size_t bytes, bool write);

/* Ranks that do not measure sleep here until the measuring ranks call this too. Collective. */
void nodes_rest(bool measured);

/* Gathers a number of each rank at rank 0. Collective. */
void nodes_collect(double mine, double *all);

/* Parses a size such as 64k. */
size_t nodes_size(int argc, char **argv, const char *name, const char *fallback);

#endif
