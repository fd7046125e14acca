/* patch_help.h: random strided areas for tests, and the definition of where their bytes are. */
#ifndef HEARTH_TEST_PATCH_HELP_H
#define HEARTH_TEST_PATCH_HELP_H

#include <string.h>

#include "base/random.h"
#include "data/data.h"

/* The arguments of a strided call. */
struct area {
    int levels, counts[PATCH_LEVELS + 1], strides[PATCH_LEVELS];
    int64_t bytes, low, high; /* low, high: the hull, from the first byte of the first row */
};

/* The offset of the n-th byte in packed order. */
static inline int64_t area_offset(const struct area *a, int64_t n) {
    int64_t offset = n % a->counts[0];
    n /= a->counts[0];
    for (int i = 0; i < a->levels; i++) {
        offset += n % a->counts[i + 1] * a->strides[i];
        n /= a->counts[i + 1];
    }
    return offset;
}

/* Chooses strides such that no two rows overlap: the levels nest in a random order, some without a gap, some
 * descending. Strides are multiples of `unit`. */
static inline void area_lay_out(struct area *a, struct random *dice, int unit) {
    int order[PATCH_LEVELS] = {0};
    int64_t extent = a->counts[0];
    bool in_order = random_below(dice, 2), backwards = random_below(dice, 3) == 0;
    for (int i = 0; i < a->levels; i++) {
        int j = in_order ? i : (int)random_below(dice, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    a->low = 0;
    a->high = a->counts[0];
    for (int i = 0; i < a->levels; i++) {
        int level = order[i];
        int64_t gap = random_below(dice, 2) ? (int64_t)random_below(dice, 5) * unit : 0;
        int64_t stride = (extent + gap + unit - 1) / unit * unit;
        extent += stride * (a->counts[level + 1] - 1);
        a->strides[level] = (int)(backwards && random_below(dice, 2) ? -stride : stride);
        int64_t reach = (int64_t)a->strides[level] * (a->counts[level + 1] - 1);
        *(reach < 0 ? &a->low : &a->high) += reach;
    }
}

/* Of at most `most` bytes; rows are multiples of `unit`. */
static inline void area_choose(struct area *a, struct random *dice, int unit, int64_t most) {
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 31, 32, 33, 64, 65, 200, 1500};
    do {
        a->levels = (int)random_below(dice, PATCH_LEVELS + 1);
        a->bytes = a->counts[0] = unit * sizes[random_below(dice, sizeof sizes / sizeof *sizes)];
        for (int i = 1; i <= a->levels; i++) {
            a->counts[i] = 1 + (int)random_below(dice, random_below(dice, 4) ? 3 : 40);
            a->bytes *= a->counts[i];
        }
    } while (a->bytes > most);
    area_lay_out(a, dice, unit);
}

/* The same bytes in other rows: levels change places, or become part of the row. */
static inline void area_regroup(struct area *a, const struct area *from, struct random *dice, int unit) {
    *a = *from;
    for (int i = 1; i <= a->levels; i++) {
        int j = 1 + (int)random_below(dice, (uint32_t)i), count = a->counts[i];
        a->counts[i] = a->counts[j];
        a->counts[j] = count;
    }
    while (a->levels && random_below(dice, 2))
        a->counts[0] *= a->counts[a->levels--];
    area_lay_out(a, dice, unit);
}

#endif
