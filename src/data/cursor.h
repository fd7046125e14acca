/* cursor.h: a position in the packed order of a shape, and copies from there on.
 *
 *      data_cursor_start(&c, shape, from);
 *      data_cursor_gather(&c, packed, first, bytes);       the cursor is then at from + bytes
 *
 * Starting takes constant time for contiguous and regular shapes, and a scan of the blocks before `from` for lists: a
 * caller that handles a list in ranges keeps its cursor. Callers never go beyond the end of the shape. */
#ifndef HEARTH_DATA_CURSOR_H
#define HEARTH_DATA_CURSOR_H

#include "tables/shape.h"

struct data_cursor {
    const struct shape *shape;
    uint64_t index;  /* of the block; shape->blocks at the end */
    uint64_t within; /* bytes of the block already passed: fewer than the block has */
};

void data_cursor_start(struct data_cursor *c, const struct shape *s, uint64_t from);

/* Advances over this many packed bytes. */
void data_cursor_skip(struct data_cursor *c, uint64_t bytes);

/* The rest of the block at the cursor, which is not at the end. */
static inline struct shape_block data_cursor_rest(const struct data_cursor *c) {
    struct shape_block b = shape_block_at(c->shape, c->index);
    return (struct shape_block){.offset = b.offset + (int64_t)c->within, .bytes = b.bytes - c->within};
}

/* Rows of equal size at equal distances, relative to the first byte of the shape. */
struct data_run {
    int64_t offset, stride;
    uint64_t rows;
    uint64_t bytes; /* of each row */
};

/* Takes the longest run at the cursor whose rows consist of whole units, and advances over it; at most `most` bytes, which
 * are at least one unit. False, and nothing is taken, if the next unit is split over several blocks. */
bool data_cursor_take(struct data_cursor *c, uint64_t most, size_t unit, struct data_run *run);

/* Copies the next `bytes` packed bytes out of, or into, the blocks of the shape, and advances over them. `first` is the
 * first byte of the shape. No lock. */
void data_cursor_gather(struct data_cursor *c, void *packed, const void *first, uint64_t bytes);
void data_cursor_scatter(struct data_cursor *c, void *first, const void *packed, uint64_t bytes);

#endif
