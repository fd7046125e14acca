/* shape.c: iterates over the blocks of accesses.
 *
 * Prefix and copy walk two shapes at once, piece by piece: a piece is the longest run that is contiguous in both.
 * Overlap tests each block of the shape with fewer blocks, in constant time if the other is regular; two lists in
 * ascending order are merged instead, which is linear. */
#include "tables/shape.h"

struct walk {
    const struct shape *shape;
    uint64_t index;           /* of the block */
    struct shape_block block; /* the remaining part of it */
};

static struct walk walk_start(const struct shape *s) {
    struct walk w = {.shape = s};
    if (s->blocks)
        w.block = shape_block_at(s, 0);
    return w;
}

static void walk_advance(struct walk *w, uint64_t bytes) {
    w->block.offset += (int64_t)bytes;
    w->block.bytes -= bytes;
    if (!w->block.bytes && ++w->index < w->shape->blocks)
        w->block = shape_block_at(w->shape, w->index);
}

static uint64_t shape_least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void shape_hull(const struct shape *s, int64_t *lo, int64_t *hi) {
    *lo = *hi = 0;
    if (!s->blocks)
        return;
    if (!s->list) {
        int64_t last = (int64_t)(s->blocks - 1) * s->stride;
        *lo = last < 0 ? last : 0;
        *hi = (last > 0 ? last : 0) + (int64_t)s->block_bytes;
        return;
    }
    for (uint64_t i = 0; i < s->blocks; i++) {
        int64_t from = s->list[i].offset, to = from + (int64_t)s->list[i].bytes;
        *lo = from < *lo ? from : *lo;
        *hi = to > *hi ? to : *hi;
    }
}

bool shape_is_prefix(const struct shape *part, const struct shape *whole) {
    if (part->bytes > whole->bytes)
        return false;
    if (!part->list && !whole->list && part->block_bytes == whole->block_bytes)
        return part->blocks <= 1 || part->stride == whole->stride;
    struct walk p = walk_start(part), w = walk_start(whole);
    for (uint64_t left = part->bytes; left;) {
        if (p.block.offset != w.block.offset)
            return false;
        uint64_t piece = shape_least(p.block.bytes, w.block.bytes);
        walk_advance(&p, piece);
        walk_advance(&w, piece);
        left -= piece;
    }
    return true;
}

static bool ranges_overlap(int64_t a_lo, int64_t a_hi, int64_t b_lo, int64_t b_hi) {
    return a_lo < b_hi && b_lo < a_hi;
}

/* Whether [lo, hi) overlaps a block of s; regular shapes need no loop. */
static bool range_overlaps(const struct shape *s, int64_t lo, int64_t hi) {
    if (lo >= hi)
        return false;
    if (s->list) {
        for (uint64_t i = 0; i < s->blocks; i++)
            if (ranges_overlap(s->list[i].offset, s->list[i].offset + (int64_t)s->list[i].bytes, lo, hi))
                return true;
        return false;
    }
    if (s->blocks <= 1 || s->stride == 0)
        return s->blocks && ranges_overlap(0, (int64_t)s->block_bytes, lo, hi);
    int64_t step = s->stride < 0 ? -s->stride : s->stride;
    if (s->stride < 0) { /* mirror to positive strides: block i at last + i * step */
        int64_t last = (int64_t)(s->blocks - 1) * s->stride;
        lo -= last;
        hi -= last;
    }
    /* The first block that ends after lo decides. */
    int64_t reach = lo - (int64_t)s->block_bytes;
    uint64_t first = reach < 0 ? 0 : (uint64_t)(reach / step) + 1;
    return first < s->blocks && (int64_t)first * step < hi;
}

/* Whether the blocks are in ascending order without overlap, the common case. */
static bool is_ascending(const struct shape *s) {
    if (!s->list)
        return s->blocks <= 1 || s->stride >= (int64_t)s->block_bytes;
    for (uint64_t i = 1; i < s->blocks; i++)
        if (s->list[i].offset < s->list[i - 1].offset + (int64_t)s->list[i - 1].bytes)
            return false;
    return true;
}

/* Both ascending: the block that ends first cannot overlap anything further on. */
static bool lists_overlap(const struct shape *a, const struct shape *b, int64_t shift) {
    for (uint64_t i = 0, j = 0; i < a->blocks && j < b->blocks;) {
        struct shape_block x = shape_block_at(a, i), y = shape_block_at(b, j);
        int64_t x_end = x.offset + (int64_t)x.bytes, y_end = y.offset + shift + (int64_t)y.bytes;
        if (ranges_overlap(x.offset, x_end, y.offset + shift, y_end))
            return true;
        if (x_end < y_end)
            i++;
        else
            j++;
    }
    return false;
}

enum { MOST_PAIRS = 1 << 18 };

bool shape_overlaps(const struct shape *a, const struct shape *b, int64_t shift) {
    int64_t a_lo, a_hi, b_lo, b_hi;
    shape_hull(a, &a_lo, &a_hi);
    shape_hull(b, &b_lo, &b_hi);
    if (!ranges_overlap(a_lo, a_hi, b_lo + shift, b_hi + shift))
        return false;
    if ((a->list || b->list) && is_ascending(a) && is_ascending(b))
        return lists_overlap(a, b, shift);
    if (a->list && b->list && a->blocks > MOST_PAIRS / b->blocks)
        return true; /* too expensive to decide; true is always safe */
    const struct shape *few = a->blocks <= b->blocks ? a : b, *many = few == a ? b : a;
    int64_t move = few == a ? -shift : shift; /* from few's coordinates to many's */
    for (uint64_t i = 0; i < few->blocks; i++) {
        struct shape_block block = shape_block_at(few, i);
        int64_t lo = block.offset + move;
        if (range_overlaps(many, lo, lo + (int64_t)block.bytes))
            return true;
    }
    return false;
}

void shape_copy(void *to, const struct shape *to_shape, const void *from, const struct shape *from_shape,
                uint64_t bytes) {
    struct walk t = walk_start(to_shape), f = walk_start(from_shape);
    while (bytes) {
        uint64_t piece = shape_least(bytes, shape_least(t.block.bytes, f.block.bytes));
        memcpy((char *)to + t.block.offset, (const char *)from + f.block.offset, piece);
        walk_advance(&t, piece);
        walk_advance(&f, piece);
        bytes -= piece;
    }
}

void shape_gather(void *packed, const void *first, const struct shape *s, uint64_t bytes) {
    struct shape flat = shape_contiguous(bytes);
    shape_copy(packed, &flat, first, s, bytes);
}

void shape_scatter(void *first, const struct shape *s, const void *packed, uint64_t bytes) {
    struct shape flat = shape_contiguous(bytes);
    shape_copy(first, s, packed, &flat, bytes);
}
