/* vgasnet_nodes.h: what the benches of vGASNet share: the job, data on the NVM of one rank, and ranks that rest.
 *
 * The programs use GASNet's and vGASNet's public interface, and MPI to gather results. Each rank is a node. The same
 * programs run with segments in pages and, with HEARTH_NVM=off, on plain GASNet. That the data is right is checked in every
 * run. */
#ifndef HEARTH_BENCH_VGASNET_NODES_H
#define HEARTH_BENCH_VGASNET_NODES_H

#include <vgasnet.h>

#include "armci_rest.h"

struct nodes {
    int rank, size;
    bool paged;  /* not with HEARTH_NVM=off */
    size_t page; /* bytes: --page, which must be what HEARTH_PAGE_SIZE says */
    gasnet_seginfo_t *segments;
};
extern struct nodes nodes;

/* MPI and GASNet, and a segment of so many bytes at each rank. Takes --page. Handlers may be none. */
void nodes_start(int argc, char **argv, size_t bytes, gasnet_handlerentry_t *handlers, int count);

/* Collective; does not return. */
void nodes_end(void) __attribute__((noreturn));

/* Ends the job: a fast wrong answer is not a result. */
void nodes_stop(const char *why) __attribute__((noreturn));

void nodes_barrier(void);

static inline char *nodes_at(int rank, size_t offset) {
    return (char *)nodes.segments[rank].addr + offset;
}

/* Writes the first `bytes` of that rank's segment. They are on its NVM then and in nobody's memory (this needs HEARTH_NVM_NAME);
 * without pages they are where they are. Collective. */
void nodes_fill(int rank, size_t bytes);

/* Ends the job unless the buffer holds what nodes_fill wrote at this offset: its first and its last word are looked at. */
void nodes_verify(const char *buffer, size_t offset, size_t bytes);

/* Gets, or gets and writes back, all pages of [offset, offset + bytes): they are in this rank's memory then. */
void nodes_hold(int rank, size_t offset, size_t bytes, bool write);

/* Where those who do not measure sleep until those who do call this too. Collective. */
void nodes_rest(bool measured);

/* A number of each rank, at rank 0. Collective. */
void nodes_collect(double mine, double *all);

/* A size such as 64k. */
size_t nodes_size(int argc, char **argv, const char *name, const char *fallback);

#endif
