/* shape.h: the memory layout of one access, relative to its first byte.
 *
 * An access reads or writes blocks of bytes in a given order; in packed form they follow each other without gaps.
 * Most accesses are one block, or equal blocks at equal distances (a column, a tile), and need no list:
 *
 *      contiguous   blocks = 1, block_bytes = bytes
 *      regular      blocks x block_bytes, stride apart (stride may be negative), list = NULL
 *      irregular    list[0..blocks), in packed order
 *
 * The first block's offset is always 0: the address of an access is that of its first byte, so that accesses through
 * different datatypes to the same bytes look the same. The creator of a shape merges blocks that are adjacent in
 * packed order. A shape does not own its list. */
#ifndef HEARTH_SHAPE_H
#define HEARTH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct shape_block {
    int64_t offset;
    uint64_t bytes;
};

struct shape {
    uint64_t bytes;  /* of all blocks together */
    uint64_t blocks; /* 0 only if bytes is 0 */
    uint64_t block_bytes;
    int64_t stride;
    const struct shape_block *list;
};

static inline struct shape shape_contiguous(uint64_t bytes) {
    return (struct shape){.bytes = bytes, .blocks = bytes != 0, .block_bytes = bytes};
}

static inline bool shape_is_contiguous(const struct shape *s) {
    return s->blocks <= 1;
}

static inline struct shape_block shape_block_at(const struct shape *s, uint64_t i) {
    if (s->list)
        return s->list[i];
    return (struct shape_block){.offset = (int64_t)i * s->stride, .bytes = s->block_bytes};
}

/* The smallest range [*lo, *hi) that contains all blocks. */
void shape_hull(const struct shape *s, int64_t *lo, int64_t *hi);

/* Whether the packed bytes of `part` are the first part->bytes packed bytes of `whole`. */
bool shape_is_prefix(const struct shape *part, const struct shape *whole);

/* Whether the two accesses, the second displaced by `shift` bytes against the first, share a byte. For two long
 * unordered lists with overlapping hulls it returns true without a closer test. */
bool shape_overlaps(const struct shape *a, const struct shape *b, int64_t shift);

/* Copies the first `bytes` packed bytes out of, or into, the blocks of the shape. */
void shape_gather(void *packed, const void *first, const struct shape *s, uint64_t bytes);
void shape_scatter(void *first, const struct shape *s, const void *packed, uint64_t bytes);

/* Copies `bytes` bytes between two shapes, as if through a packed buffer. */
void shape_copy(void *to, const struct shape *to_shape, const void *from, const struct shape *from_shape,
                uint64_t bytes);

#endif
