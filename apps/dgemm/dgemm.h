/* dgemm.h: the parts of the program dgemm: C = A B by SUMMA, with the matrices in the segments of a GASNet-1
 * job.
 *
 *      options -> layout (owner and location of each tile) -> fill -> multiply (summa.c) -> verify -> report
 *
 * Functions return 0 or one of the exit codes of common.h. Functions marked collective return the same code on
 * all ranks. */
#ifndef HEARTH_DGEMM_H
#define HEARTH_DGEMM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifndef GASNET_SEQ
#define GASNET_SEQ 1
#endif
#include <gasnet.h>

#include "common/common.h"

enum dgemm_matrix { DGEMM_A, DGEMM_B, DGEMM_C, DGEMM_MATRICES };
enum dgemm_local { DGEMM_LOAD, DGEMM_GET };
enum dgemm_report { DGEMM_TEXT, DGEMM_CSV };

/* A pair of numbers of an option, such as 2x3. */
struct dgemm_pair {
    uint64_t rows, columns;
};

struct dgemm_options {
    struct app_manner manner;
    uint64_t size, block, repeats, seed;
    struct dgemm_pair grid, group; /* 0: chosen by the program */
    int local, report;             /* the enums above */
    bool verify, spoil;
};

/* The matrices are size x size elements, in tiles of block x block. Tiles at the right and lower edges may be
 * smaller, and take the same space. Ranks form a grid; rank (i mod rows, j mod columns) owns tile (i, j). A
 * segment holds its tiles of A, then of B, then of C, row by row. Each tile is contiguous, with its own rows
 * one after the other:
 *
 *      +--- A ----------------+--- B ----------------+--- C ----------------+
 *      | tile | tile | tile   | tile | ...           | tile | ...           |
 *      +------+---------------+----------------------+----------------------+
 *      row 0 of the tile, row 1, ... : `block` elements each
 * */
struct dgemm_layout {
    uint64_t size, block, tiles; /* tiles in a row and in a column of a matrix */
    int rank, ranks;
    uint64_t grid_rows, grid_columns; /* of ranks */
    uint64_t row, column;             /* position of this rank */
    uint64_t rows, columns;           /* tiles of a matrix in a segment: of the rank with the most tiles */
    uint64_t tile_bytes, segment_bytes;
    gasnet_seginfo_t *segments;
};

/* Seconds of this rank in all repeats. Communication is starting, waiting for and copying the data of gets and
 * puts. With --local load, the time for pages of the own segment is part of the BLAS, which touches them. */
struct dgemm_times {
    double blas, communication, total;
};

struct dgemm_result {
    struct dgemm_times times;
    double *seconds;  /* [repeats], of the slowest rank */
    double error;     /* largest, relative to the bound on rounding errors; only after verification */
    uint64_t checked; /* elements that were compared one by one */
    uint64_t gets, buffer_bytes; /* of this rank */
};

/* options.c. Only rank 0 prints. */
int dgemm_parse(int argc, char **argv, int rank, int ranks, struct dgemm_options *o);

/* layout.c. describe: all but the segments, which are known only after gasnet_attach. */
void dgemm_layout_describe(struct dgemm_layout *l, const struct dgemm_options *o, int rank, int ranks);
int dgemm_layout_attach(struct dgemm_layout *l); /* collective */
void dgemm_layout_free(struct dgemm_layout *l);
uint64_t dgemm_extent(const struct dgemm_layout *l,
                      uint64_t tile); /* elements of a tile, in this direction */
int dgemm_owner(const struct dgemm_layout *l, uint64_t i, uint64_t j);
double *dgemm_tile(const struct dgemm_layout *l, int matrix, uint64_t i, uint64_t j); /* at its owner */
size_t dgemm_tile_bytes(const struct dgemm_layout *l, uint64_t i); /* from the first to the last row in use */
double *dgemm_make_room(uint64_t bytes);                           /* aligned; NULL: out of memory */

/* fill.c: elements of A and B depend on the seed and their position alone, not on blocks and ranks. */
double dgemm_element(uint64_t seed, int matrix, uint64_t i, uint64_t j);
int dgemm_fill(const struct dgemm_layout *l, uint64_t seed); /* collective */

/* summa.c: collective */
int dgemm_multiply(const struct dgemm_layout *l, const struct dgemm_options *o, struct dgemm_result *r);

/* verify.c: collective */
int dgemm_verify(const struct dgemm_layout *l, const struct dgemm_options *o, struct dgemm_result *r);

/* report.c: collective; json may be NULL, and is NULL on all ranks but 0 */
int dgemm_report(const struct dgemm_layout *l, const struct dgemm_options *o, const struct dgemm_result *r,
                 FILE *json);

/* team.c: collective operations. A rank without memory for a few numbers per rank ends the job. */
void dgemm_barrier(void);
void dgemm_gather(const void *mine, size_t bytes, void *all); /* all: [ranks][bytes] */
int dgemm_agree(int code, const char *complaint);             /* as app_agree */
double dgemm_most(double mine);
void dgemm_sum(double *values, uint64_t count); /* of all ranks, on all; in the order of ranks */

#endif
