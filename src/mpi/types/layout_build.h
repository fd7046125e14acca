/* layout_build.h: building layouts from smaller ones; internal to layout*.c. */
#ifndef HEARTH_MPI_LAYOUT_BUILD_H
#define HEARTH_MPI_LAYOUT_BUILD_H

#include "mpi/types/layout.h"
#include "tables/shape.h"

/* In a list; types with more blocks are not described. The second is for several elements of a type, where nobody else could execute
 * the access. */
enum { LAYOUT_BLOCKS_MAX = 1 << 20, LAYOUT_BLOCKS_LONG = 1 << 26 };

/* A list of blocks with a reference count of layouts. */
struct layout_list {
    _Atomic unsigned holders;
    struct shape_block at[];
};

/* A layout under construction: blocks are added in packed order. Initialise to zero. */
struct layout_build {
    uint64_t bytes, blocks, block_bytes;
    int64_t first, stride, end; /* end: of the last block */
    struct layout_list *list;   /* NULL as long as the blocks are regular */
    uint64_t room;              /* capacity of the list */
    uint64_t most;              /* blocks; 0: LAYOUT_BLOCKS_MAX */
    int error;                  /* the first error; all further additions are ignored */
};

/* Adds `count` copies of `one`, the first displaced by `at` bytes, the others `stride` bytes apart. */
void layout_add(struct layout_build *b, const struct layout *one, int64_t at, int64_t count, int64_t stride);

/* Returns the layout in normal form, or the error; then there is nothing to free. Either way the build is over. */
int layout_finish(struct layout_build *b, struct layout *out);

/* Replaces l by `count` copies of it, of at most so many blocks. Returns 0, or an error and leaves l empty. */
int layout_repeat(struct layout *l, int64_t count, int64_t stride, uint64_t most);

/* A further reference to the same list. */
struct layout layout_share(const struct layout *l);

/* x * y. If the product exceeds any address range, the build fails. */
int64_t layout_times(struct layout_build *b, int64_t x, int64_t y);

/* Describes one element as MPI defines it; inner types may come from the table. Does not add `type` to the table. */
int layout_describe(MPI_Datatype type, struct layout_element *out);

/* Adds the type to the table unless another thread did. The table shares the list. */
void layout_keep(MPI_Datatype type, const struct layout_element *e);

/* Copies the description of a type that is in the table, to be freed with layout_free; false: there is none. Another thread may forget
 * the type at the same time. */
bool layout_copy_known(MPI_Datatype type, struct layout_element *out);

#endif
