/* vgasnet_nodes.c: implements vgasnet_nodes.h. */
#include "vgasnet_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/random.h"

struct nodes nodes;

void nodes_stop(const char *why) {
    fprintf(stderr, "bench: rank %d: %s\n", nodes.rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

size_t nodes_size(int argc, char **argv, const char *name, const char *fallback) {
    long sizes[RIG_LIST];
    if (rig_list(rig_word(argc, argv, name, fallback), sizes) != 1)
        nodes_stop("needs one size, such as 64k; see --help");
    return (size_t)sizes[0];
}

void nodes_start(int argc, char **argv, size_t bytes, gasnet_handlerentry_t *handlers, int count) {
    vgasnet_stats_t stats;
    nodes.page = nodes_size(argc, argv, "--page", "64k");
    if (gasnet_init(&argc, &argv) != GASNET_OK)
        nodes_stop("gasnet_init failed");
    nodes.rank = (int)gasnet_mynode();
    nodes.size = (int)gasnet_nodes();
    setvbuf(stdout, NULL, _IOLBF, 0); /* line by line, so that results before a time limit count */
    bytes = round_up(bytes, GASNET_PAGESIZE > nodes.page ? (size_t)GASNET_PAGESIZE : nodes.page);
    if (gasnet_attach(handlers, count, bytes, 0) != GASNET_OK)
        nodes_stop("gasnet_attach failed");
    nodes.segments = need(calloc((size_t)nodes.size, sizeof *nodes.segments));
    gasnet_getSegmentInfo(nodes.segments, nodes.size);
    vgasnet_stats(&stats);
    nodes.paged = stats.frames > 0;
    nodes_barrier();
}

void nodes_end(void) {
    nodes_barrier();
    gasnet_exit(0);
}

void nodes_barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK)
        nodes_stop("a barrier failed");
}

void nodes_rest(bool measured) {
    rest_until_all(measured, "sleep", 0);
    nodes_barrier();
}

void nodes_collect(double mine, double *all) {
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

/* ---- data ---- */

static uint64_t word_at(size_t offset) {
    return random_mix(offset / sizeof(uint64_t) + 1);
}

static void fill(size_t bytes) {
    uint64_t *words = need(malloc(nodes.page));
    for (size_t at = 0; at < bytes; at += nodes.page) {
        for (size_t i = 0; i < nodes.page / sizeof *words; i++)
            words[i] = word_at(at + i * sizeof *words);
        gasnet_put_bulk((gasnet_node_t)nodes.rank, nodes_at(nodes.rank, at), words, nodes.page);
    }
    free(words);
}

void nodes_fill(int rank, size_t bytes) {
    if (nodes.rank == rank)
        fill(bytes);
    nodes_rest(nodes.rank == rank);
    if (nodes.paged && vgasnet_checkpoint(NULL) != GASNET_OK)
        nodes_stop("no checkpoint: is HEARTH_NVM_NAME set?");
    nodes_barrier();
}

void nodes_verify(const char *buffer, size_t offset, size_t bytes) {
    uint64_t first, last;
    memcpy(&first, buffer, sizeof first);
    memcpy(&last, buffer + bytes - sizeof last, sizeof last);
    if (first != word_at(offset) || last != word_at(offset + bytes - sizeof last))
        nodes_stop("a get returned wrong data");
}

void nodes_hold(int rank, size_t offset, size_t bytes, bool write) {
    char *page = need(malloc(nodes.page));
    for (size_t at = offset; at < offset + bytes; at += nodes.page) {
        gasnet_get_bulk(page, (gasnet_node_t)rank, nodes_at(rank, at), nodes.page);
        nodes_verify(page, at, nodes.page);
        if (write)
            gasnet_put_bulk((gasnet_node_t)rank, nodes_at(rank, at), page, nodes.page);
    }
    free(page);
}
