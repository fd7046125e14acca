/* shape_help.h: random shapes for tests, whose blocks do not overlap, with the place of every packed byte. */
#ifndef HEARTH_TEST_SHAPE_HELP_H
#define HEARTH_TEST_SHAPE_HELP_H

#include "base/random.h"
#include "net/net.h"
#include "tables/shape.h"

enum { SHAPE_BYTES = 3 << 10, SHAPE_BLOCKS = 400 };

struct random_shape {
    struct shape shape;
    struct shape_block list[SHAPE_BLOCKS];
    int64_t low, high;          /* of all bytes, relative to the first */
    int64_t place[SHAPE_BYTES]; /* of each packed byte */
};

static inline void shape_find_places(struct random_shape *r) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < r->shape.blocks; i++)
        for (uint64_t k = 0; k < shape_block_at(&r->shape, i).bytes; k++)
            r->place[n++] = shape_block_at(&r->shape, i).offset + (int64_t)k;
    shape_hull(&r->shape, &r->low, &r->high);
}

static inline void shape_choose_regular(struct random_shape *r, struct random *dice, uint64_t block,
                                        uint64_t blocks) {
    int64_t stride = (int64_t)(block + (random_below(dice, 3) ? random_below(dice, 50) : 0));
    if (random_below(dice, 8) == 0)
        stride += LOCK_TABLE_GRAIN;
    r->shape = (struct shape){.bytes = block * blocks,
                              .blocks = blocks,
                              .block_bytes = block,
                              .stride = random_below(dice, 3) ? stride : -stride};
}

/* Places blocks of these sizes at ascending offsets, in ascending, descending or random order, relative to the first. */
static inline void shape_place_list(struct random_shape *r, struct random *dice, const uint64_t *bytes,
                                    uint32_t blocks) {
    int64_t at = 0;
    uint64_t all = 0;
    uint32_t order = random_below(dice, 3);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t to = order == 1 ? blocks - 1 - i : i;
        at += (int64_t)random_below(dice, random_below(dice, 10) ? 20 : 2000);
        r->list[to] = (struct shape_block){.offset = at, .bytes = bytes[i]};
        at += (int64_t)bytes[i];
        all += bytes[i];
    }
    for (uint32_t i = blocks; order == 2 && i > 1; i--) {
        uint32_t other = random_below(dice, i);
        struct shape_block b = r->list[i - 1];
        r->list[i - 1] = r->list[other];
        r->list[other] = b;
    }
    for (uint32_t i = blocks; i--;)
        r->list[i].offset -= r->list[0].offset;
    r->shape = (struct shape){.bytes = all, .blocks = blocks, .list = r->list};
}

/* `whole`: every block consists of whole units; otherwise only the total does. */
static inline void shape_choose_list(struct random_shape *r, struct random *dice, size_t unit, bool whole) {
    uint64_t bytes[SHAPE_BLOCKS], all = (1 + random_below(dice, SHAPE_BYTES / (uint32_t)unit)) * unit;
    uint32_t blocks = 0, limit = 1 + random_below(dice, 12);
    while (all && blocks < SHAPE_BLOCKS) {
        uint64_t block = (1 + random_below(dice, limit)) * (whole ? unit : 1);
        if (block > all || blocks == SHAPE_BLOCKS - 1)
            block = all;
        bytes[blocks++] = block;
        all -= block;
    }
    shape_place_list(r, dice, bytes, blocks);
}

/* A contiguous shape, a regular one or a list. Its total size is a multiple of `unit`; its blocks need not be. */
static inline void shape_choose(struct random_shape *r, struct random *dice, size_t unit) {
    uint32_t most = SHAPE_BYTES / (uint32_t)unit, count = 1 + random_below(dice, 8);
    switch (random_below(dice, 5)) {
    case 0:
        r->shape = shape_contiguous((1 + random_below(dice, most)) * unit);
        break;
    case 1:
        shape_choose_regular(r, dice, count * unit,
                             1 + random_below(dice, most / count < 60 ? most / count : 60));
        break;
    case 2: /* unit blocks of an odd size */
        shape_choose_regular(r, dice, 1 + random_below(dice, 30), unit);
        break;
    default:
        shape_choose_list(r, dice, unit, random_below(dice, 2));
    }
    shape_find_places(r);
}

#endif
