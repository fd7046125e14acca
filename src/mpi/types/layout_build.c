/* layout_build.c: builds layouts by appending blocks in packed order.
 *
 * Most types are regular, whatever constructor made them: a row of a matrix is one block, a tile is equal blocks at
 * equal distances. A build is therefore three numbers as long as the added blocks continue the pattern. Copies of a
 * regular layout that continue it are added in one step, whatever their number:
 *
 *      blocks x block_bytes, from `first`, `stride` apart        list == NULL
 *      |####|......|####|......|####|
 *
 * The first block that breaks the pattern converts it into a list. Invariant (normal form): blocks that are adjacent
 * in packed order are merged, and a list is used only if the blocks are not regular. Equal accesses therefore have
 * equal shapes. Merging can make a list regular at the very end, so layout_finish checks again.
 *
 * No offset or length exceeds LIMIT, so that the sum of two cannot overflow.
 *
 * Rejected: keeping nested loops (a tree of strides) instead of a list. It is shorter for 3-D tiles, but every reader
 * of a shape would have to support it. */
#include "mpi/types/layout_build.h"

#include <errno.h>
#include <stdlib.h>

#define LIMIT ((int64_t)1 << 61)

static bool is_out_of_range(int64_t x) {
    return x > LIMIT || x < -LIMIT;
}

static bool build_fail(struct layout_build *b, int error) {
    if (!b->error)
        b->error = error;
    return false;
}

int64_t layout_times(struct layout_build *b, int64_t x, int64_t y) {
    int64_t product;
    if (!__builtin_mul_overflow(x, y, &product) && !is_out_of_range(product))
        return product;
    build_fail(b, -ENOTSUP);
    return 0;
}

static uint64_t build_most(const struct layout_build *b) {
    return b->most ? b->most : LAYOUT_BLOCKS_MAX;
}

static bool build_make_room(struct layout_build *b, uint64_t more) {
    uint64_t need = b->blocks + more, most = build_most(b);
    if (need <= b->room)
        return true;
    if (need > most)
        return build_fail(b, -ENOTSUP);
    uint64_t room = need > 2 * b->room ? need : 2 * b->room;
    room = room > most ? most : room;
    struct layout_list *list = realloc(b->list, sizeof *list + room * sizeof list->at[0]);
    if (!list)
        return build_fail(b, -ENOMEM);
    b->list = list;
    b->room = room;
    return true;
}

/* Converts the regular form to a list. */
static bool spell_out(struct layout_build *b) {
    if (b->list)
        return true;
    if (!build_make_room(b, 8))
        return false;
    for (uint64_t i = 0; i < b->blocks; i++)
        b->list->at[i] = (struct shape_block){.offset = (int64_t)i * b->stride, .bytes = b->block_bytes};
    return true;
}

static bool grow_last(struct layout_build *b, uint64_t bytes) {
    if (!b->list && b->blocks == 1) {
        b->block_bytes += bytes;
        return true;
    }
    if (!spell_out(b))
        return false;
    b->list->at[b->blocks - 1].bytes += bytes;
    return true;
}

static bool add_to_list(struct layout_build *b, int64_t offset, uint64_t bytes) {
    if (!spell_out(b) || !build_make_room(b, 1))
        return false;
    b->list->at[b->blocks++] = (struct shape_block){.offset = offset - b->first, .bytes = bytes};
    return true;
}

static bool build_continues(const struct layout_build *b, int64_t offset, uint64_t bytes, int64_t stride) {
    if (b->list || bytes != b->block_bytes)
        return false;
    if (b->blocks == 1)
        return offset - b->first == stride;
    return stride == b->stride && offset - b->first == (int64_t)b->blocks * stride;
}

static void build_start(struct layout_build *b, int64_t offset, uint64_t bytes) {
    b->first = offset;
    b->blocks = 1;
    b->block_bytes = bytes;
}

static bool build_add_block(struct layout_build *b, int64_t offset, uint64_t bytes) {
    int64_t stride = b->blocks == 1 ? offset - b->first : b->stride;
    bool added = true;
    if (!b->blocks)
        build_start(b, offset, bytes);
    else if (offset == b->end)
        added = grow_last(b, bytes);
    else if (build_continues(b, offset, bytes, stride)) {
        b->stride = stride;
        b->blocks++;
    } else
        added = add_to_list(b, offset, bytes);
    b->end = offset + (int64_t)bytes;
    b->bytes += bytes;
    return added;
}

/* Adds two or more blocks that are not adjacent. */
static bool build_add_run(struct layout_build *b, int64_t offset, uint64_t bytes, int64_t stride,
                          uint64_t count) {
    bool empty = !b->blocks;
    if (!empty && !build_continues(b, offset, bytes, stride)) {
        if (!spell_out(b) || !build_make_room(b, count))
            return false;
        for (uint64_t i = 0; i < count; i++)
            if (!build_add_block(b, offset + (int64_t)i * stride, bytes))
                return false;
        return true;
    }
    if (empty)
        build_start(b, offset, bytes);
    b->blocks += empty ? count - 1 : count;
    b->stride = stride;
    b->bytes += bytes * count;
    b->end = offset + (int64_t)(count - 1) * stride + (int64_t)bytes;
    return true;
}

static bool add_once(struct layout_build *b, const struct layout *one, int64_t at) {
    const struct shape *s = &one->shape;
    if (s->blocks == 1)
        return build_add_block(b, at, s->bytes);
    if (!s->list)
        return build_add_run(b, at, s->block_bytes, s->stride, s->blocks);
    for (uint64_t i = 0; i < s->blocks; i++)
        if (!build_add_block(b, at + s->list[i].offset, s->list[i].bytes))
            return false;
    return true;
}

/* Adds all copies in one step; false if the shape does not allow it. */
static bool add_at_once(struct layout_build *b, const struct layout *one, int64_t at, int64_t count,
                        int64_t stride) {
    const struct shape *s = &one->shape;
    if (s->blocks == 1 && stride == (int64_t)s->bytes)
        build_add_block(b, at, s->bytes * (uint64_t)count);
    else if (s->blocks == 1)
        build_add_run(b, at, s->bytes, stride, (uint64_t)count);
    else if (!s->list && stride == (int64_t)s->blocks * s->stride)
        build_add_run(b, at, s->block_bytes, s->stride, s->blocks * (uint64_t)count);
    else
        return false;
    return true;
}

static bool is_in_range(struct layout_build *b, const struct layout *one, int64_t at, int64_t count,
                        int64_t stride) {
    int64_t bytes = layout_times(b, count, (int64_t)one->shape.bytes) + (int64_t)b->bytes;
    int64_t reach = count > 1 ? layout_times(b, count, stride) : 0;
    return !b->error && !is_out_of_range(at) && !is_out_of_range(at + reach) && !is_out_of_range(bytes);
}

void layout_add(struct layout_build *b, const struct layout *one, int64_t at, int64_t count, int64_t stride) {
    if (count <= 0 || !one->shape.blocks || b->error)
        return;
    if (is_out_of_range(at) || !is_in_range(b, one, at + one->offset, count, stride)) {
        build_fail(b, -ENOTSUP);
        return;
    }
    at += one->offset;
    if (count == 1)
        add_once(b, one, at);
    else if (add_at_once(b, one, at, count, stride))
        return;
    else if ((uint64_t)count > build_most(b) / (one->shape.blocks - 1))
        build_fail(b, -ENOTSUP); /* at most one block of each copy merges with the copy before */
    else
        for (int64_t i = 0; i < count && add_once(b, one, at + i * stride); i++)
            continue;
}

static bool is_regular(const struct layout_build *b) {
    const struct shape_block *at = b->list->at;
    for (uint64_t i = 1; i < b->blocks; i++)
        if (at[i].bytes != at[0].bytes || at[i].offset != (int64_t)i * at[1].offset)
            return false;
    return true;
}

static void drop_list(struct layout_build *b) {
    free(b->list);
    b->list = NULL;
}

static void tidy_list(struct layout_build *b) {
    if (is_regular(b)) {
        b->block_bytes = b->list->at[0].bytes;
        b->stride = b->blocks > 1 ? b->list->at[1].offset : 0;
        drop_list(b);
        return;
    }
    b->block_bytes = 0;
    b->stride = 0;
    atomic_init(&b->list->holders, 1);
    if (b->room - b->blocks > 64) {
        struct layout_list *list = realloc(b->list, sizeof *list + b->blocks * sizeof list->at[0]);
        b->list = list ? list : b->list;
    }
}

int layout_finish(struct layout_build *b, struct layout *out) {
    if (b->error) {
        drop_list(b);
        return b->error;
    }
    if (b->list)
        tidy_list(b);
    out->offset = b->first;
    out->owned = b->list;
    out->shape = (struct shape){.bytes = b->bytes,
                                .blocks = b->blocks,
                                .block_bytes = b->block_bytes,
                                .stride = b->stride,
                                .list = b->list ? b->list->at : NULL};
    return 0;
}

int layout_repeat(struct layout *l, int64_t count, int64_t stride, uint64_t most) {
    if (count == 1)
        return 0;
    struct layout_build b = {.most = most};
    layout_add(&b, l, 0, count, stride);
    layout_free(l);
    return layout_finish(&b, l);
}

struct layout layout_share(const struct layout *l) {
    struct layout_list *list = l->owned;
    if (list)
        atomic_fetch_add_explicit(&list->holders, 1, memory_order_relaxed);
    return *l;
}

void layout_free(struct layout *l) {
    struct layout_list *list = l->owned;
    /* acq_rel: the reads of each holder happen before the free by the last one. */
    if (list && atomic_fetch_sub_explicit(&list->holders, 1, memory_order_acq_rel) == 1)
        free(list);
    *l = (struct layout){.owned = NULL};
}
