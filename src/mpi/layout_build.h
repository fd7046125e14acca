/* layout_build.h: putting layouts together from smaller ones, inside layout*.c. */
#ifndef HEARTH_MPI_LAYOUT_BUILD_H
#define HEARTH_MPI_LAYOUT_BUILD_H

#include "mpi/layout.h"

enum { LAYOUT_BLOCKS_MAX = 1 << 20 }; /* of a list; beyond, an access is too fine to be worth a description */

/* A list of blocks with the number of layouts that hold it. */
struct layout_list {
    _Atomic unsigned holders;
    struct shape_block at[];
};

/* A layout in the making: blocks are added in packed order. All zero to begin with. */
struct layout_build {
    uint64_t bytes, blocks, block_bytes;
    int64_t first, stride, end; /* end: of the last block */
    struct layout_list *list;   /* NULL as long as the blocks are regular */
    uint64_t room;              /* in the list */
    int error;                  /* the first one; all that follows is ignored */
};

/* Adds `count` copies of `one`, the first displaced by `at` bytes, the others `stride` bytes apart. */
void layout_add(struct layout_build *b, const struct layout *one, int64_t at, int64_t count, int64_t stride);

/* The layout, in normal form; or the error, and nothing is left to free. Either way the build is over. */
int layout_finish(struct layout_build *b, struct layout *out);

/* Replaces l by `count` copies of it. 0, or an error: then l is empty. */
int layout_repeat(struct layout *l, int64_t count, int64_t stride);

/* A second holder of the same list. */
struct layout layout_share(const struct layout *l);

/* x * y; too large to be an address within any memory: the build fails. */
int64_t layout_times(struct layout_build *b, int64_t x, int64_t y);

/* What the MPI knows of one element, through the table for types that it names. Not put into the table. */
int layout_describe(MPI_Datatype type, struct layout_element *out);

/* Puts it into the table, unless another thread did. The table shares the list. */
void layout_keep(MPI_Datatype type, const struct layout_element *e);

#endif
