/* shape.c: blocks of threads, as in Table 1 of the paper on matching.
 *
 * A rank is a block of a x b x c threads surrounded by blocks of the same shape. A thread receives from each
 * neighbour of its stencil that is outside the block. The program counts these messages in its list; this file
 * calculates their number. The two must agree.
 *
 *      27 points: pairs of a thread and itself or a neighbour       27 abc
 *                 of these, both inside                             (3a-2)(3b-2)(3c-2)
 *      7 points:  one message through each outer face of the block  2 (ab + bc + ca)
 *
 * Flat blocks have 9 and 5 points, and no faces above and below. */
#include "halo.h"

#include <ctype.h>
#include <stdlib.h>

enum { MOST_THREADS = 16384 };

static const struct row {
    struct halo_shape shape;
    struct halo_counts counts;
    double depth;
} table1[] = {
    {{{32, 32, 1}, 5}, {124, 128, 128}, 32.51},     {{{64, 32, 1}, 5}, {188, 192, 192}, 48.22},
    {{{32, 32, 1}, 9}, {124, 132, 380}, 85.18},     {{{64, 32, 1}, 9}, {188, 196, 572}, 127.24},
    {{{8, 8, 4}, 7}, {184, 256, 256}, 65.85},       {{{1, 1, 128}, 7}, {128, 514, 514}, 132.27},
    {{{1, 1, 256}, 7}, {256, 1026, 1026}, 259.08},  {{{8, 8, 4}, 27}, {184, 344, 2072}, 410.02},
    {{{1, 1, 128}, 27}, {128, 1042, 3074}, 596.85}, {{{1, 1, 256}, 27}, {256, 2066, 6146}, 1294.49}};

int halo_parse_box(const char *name, const char *text, int axes, int most_side, int most_all, int box[3]) {
    const char *from = text;
    long all = 1;
    box[2] = 1;
    for (int i = 0; i < axes; i++) {
        char *end = NULL;
        long n = isdigit((unsigned char)*from) ? strtol(from, &end, 10) : 0;
        if (n < 1 || n > most_side || n > most_all / all || *end != (i < axes - 1 ? 'x' : 0))
            return app_reject("--%s '%s': must be %s, each from 1 to %d and at most %d in all", name, text,
                              axes == 2 ? "AxB" : "AxBxC", most_side, most_all);
        all *= n;
        box[i] = (int)n;
        from = end + 1;
    }
    return APP_OK;
}

int halo_shape_parse(const char *text, int points, struct halo_shape *shape) {
    shape->points = points;
    return halo_parse_box("block", text, halo_is_flat(points) ? 2 : 3, MOST_THREADS, MOST_THREADS,
                          shape->size);
}

void halo_shape_formula(const struct halo_shape *shape, struct halo_counts *counts) {
    int axes = halo_is_flat(shape->points) ? 2 : 3;
    uint64_t all = 1, around = 1, within = 1, pairs = 1, neighbourhood = 1, faces = 0;
    for (int i = 0; i < axes; i++) {
        uint64_t n = (uint64_t)shape->size[i];
        all *= n;
        around *= n + 2;
        within *= n > 2 ? n - 2 : 0;
        pairs *= 3 * n - 2;
        neighbourhood *= 3;
    }
    for (int i = 0; i < axes; i++)
        faces += 2 * all / (uint64_t)shape->size[i];
    bool corners = shape->points == 9 || shape->points == 27;
    counts->receivers = all - within;
    counts->senders = corners ? around - all : faces;
    counts->length = corners ? neighbourhood * all - pairs : faces;
}

bool halo_shape_published(const struct halo_shape *shape, struct halo_counts *counts, double *depth) {
    for (size_t i = 0; i < sizeof table1 / sizeof *table1; i++) {
        const struct halo_shape *s = &table1[i].shape;
        if (s->points != shape->points || s->size[0] != shape->size[0] || s->size[1] != shape->size[1] ||
            s->size[2] != shape->size[2])
            continue;
        *counts = table1[i].counts;
        *depth = table1[i].depth;
        return true;
    }
    return false;
}

bool halo_shape_leaves(const struct halo_shape *shape, const int p[3], int direction, int shift[3],
                       int there[3]) {
    int step[3];
    bool leaves = false;
    halo_step(direction, step);
    for (int i = 0; i < 3; i++) {
        int q = p[i] + step[i];
        shift[i] = q < 0 ? -1 : q >= shape->size[i];
        there[i] = q - shift[i] * shape->size[i];
        leaves |= shift[i] != 0;
    }
    return leaves;
}
