/* lcc.h: the parts of the program lcc.
 *
 *      options -> source (R-MAT or a file) -> graph (lists spread over the ranks) -> count -> verify -> report
 *
 * Functions return 0 or one of the exit codes of common.h. Functions marked collective return the same code on
 * all ranks. */
#ifndef HEARTH_LCC_H
#define HEARTH_LCC_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/clampi.h"
#include "common/common.h"

enum lcc_order { LCC_BLOCK, LCC_CYCLIC, LCC_HASHED };
enum lcc_score { LCC_SCORE_NONE, LCC_SCORE_SIZE, LCC_SCORE_DEGREE };

struct lcc_options {
    struct app_manner manner;
    uint64_t scale, edge_factor, seed;
    double rmat[4];
    const char *file; /* NULL: generate */
    const char *mode;
    int order, score;  /* enum lcc_order, enum lcc_score */
    uint64_t vertices; /* per rank; 0 = all */
    uint64_t batch;
    bool local_gets, verify;
};

/* An undirected edge, or one direction of it: u in the upper half, so that sorting groups by u. */
static inline uint64_t lcc_pair(uint32_t u, uint32_t v) {
    return (uint64_t)u << 32 | v;
}

/* The edges that this rank contributes: first .. first + count of a sequence that is the same for any number
 * of ranks. Loops and duplicates included. */
struct lcc_source {
    uint64_t vertices, first, count;
    uint64_t total;   /* of all ranks */
    uint64_t *listed; /* the edges themselves, if read from a file */
    unsigned scale;
    uint64_t seed, limit[3]; /* R-MAT: quadrant boundaries, of 2^32 */
};

struct lcc_graph {
    int rank, ranks, order;
    uint64_t vertices, edges; /* undirected */
    uint64_t checksum;        /* of all edges, the same for any number of ranks */
    uint64_t *start;          /* per vertex: offset of its list in its owner's lists, in elements */
    uint32_t *degree;         /* per vertex */
    uint32_t most;            /* the highest degree */
    uint32_t *lists;          /* of the owned vertices in ascending order; sorted; 64-byte aligned */
    uint64_t elements, bytes; /* of lists; bytes is rounded up to 64 */
    uint32_t *owned;
    uint64_t owned_count;
};

struct lcc_count {
    uint32_t vertex;
    uint64_t
        pairs; /* ordered pairs of neighbours that are neighbours: twice the triangles through the vertex */
};

struct lcc_result {
    struct lcc_count *counts;
    uint64_t count;
    double seconds;
    uint64_t gets, bytes;
    bool cached; /* a cache is loaded and stats are its */
    CLAMPI_Stats stats;
};

/* options.c. Only rank 0 prints. */
int lcc_parse(int argc, char **argv, int rank, struct lcc_options *o);
const char *lcc_score_name(int score);

/* source.c, read.c */
int lcc_source_open(struct lcc_source *s, const struct lcc_options *o); /* collective */
void lcc_source_close(struct lcc_source *s);
uint64_t lcc_source_edge(const struct lcc_source *s, uint64_t i);
int lcc_read(const char *path, struct lcc_source *s);

/* graph.c */
int lcc_graph_build(struct lcc_graph *g, const struct lcc_source *s, int order); /* collective */
void lcc_graph_free(struct lcc_graph *g);
int lcc_owner(const struct lcc_graph *g, uint32_t v);

/* exchange.c: sends each edge, in both directions, to the owner of its first vertex; the result is sorted,
 * without loops and duplicates. Collective. The caller frees *pairs. */
int lcc_exchange(const struct lcc_graph *g, const struct lcc_source *s, uint64_t **pairs, uint64_t *count);

/* count.c */
int lcc_count(const struct lcc_graph *g, const struct lcc_options *o, struct lcc_result *r); /* collective */

/* verify.c: collective */
int lcc_verify(const struct lcc_graph *g, const struct lcc_result *r);

/* report.c: collective; json may be NULL, and is NULL on all ranks but 0 */
int lcc_report(const struct lcc_options *o, const struct lcc_graph *g, const struct lcc_result *r,
               FILE *json);

/* main.c */
int lcc_compare_pairs(const void *a, const void *b);

#endif
