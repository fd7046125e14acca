/* morton.c: Morton keys of positions. Each axis of the cube around all bodies is cut into 2^21 parts, and the
 * bits of the three coordinates are interleaved:
 *
 *      key  =  x20 y20 z20  x19 y19 z19  ...  x0 y0 z0         63 bits, three per level of the octree
 *
 * The bodies of a cell at any level are therefore adjacent in key order, and a rank with a contiguous range of
 * keys has whole subtrees, except at its two ends. The cube comes from minima and maxima, which do not depend
 * on the order of the ranks: the same bodies have the same keys on any number of ranks. */
#include "bh.h"

#include <math.h>
#include <stdlib.h>

void bh_cube_around(const struct bh_bodies *b, struct bh_cube *cube) {
    double low[6], all[6]; /* minima, and minima of the negated coordinates: one reduction */
    for (int i = 0; i < 6; i++)
        low[i] = INFINITY;
    for (uint64_t i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], b->list[i].x[k]);
            low[k + 3] = fmin(low[k + 3], -b->list[i].x[k]);
        }
    MPI_Allreduce(low, all, 6, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    cube->side = 0;
    for (int k = 0; k < 3; k++) {
        cube->corner[k] = b->total ? all[k] : 0;
        if (b->total)
            cube->side = fmax(cube->side, -all[k + 3] - all[k]);
    }
    if (!(cube->side > 0))
        cube->side = 1; /* all bodies are at one position */
}

static uint64_t spread(uint64_t part) { /* abc -> 00a00b00c */
    part = (part | part << 32) & 0x001f00000000ffffu;
    part = (part | part << 16) & 0x001f0000ff0000ffu;
    part = (part | part << 8) & 0x100f00f00f00f00fu;
    part = (part | part << 4) & 0x10c30c30c30c30c3u;
    return (part | part << 2) & 0x1249249249249249u;
}

uint64_t bh_key(const struct bh_cube *cube, const double *x) {
    const double parts = (double)(1u << BH_LEVELS);
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        double place = (x[k] - cube->corner[k]) / cube->side * parts;
        uint64_t part = place > 0 ? (uint64_t)fmin(place, parts - 1) : 0;
        key = key << 1 | spread(part);
    }
    return key;
}

static int compare(const void *p, const void *q) {
    const struct bh_body *a = p, *b = q;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

void bh_sort(struct bh_bodies *b) {
    if (b->count > 1)
        qsort(b->list, b->count, sizeof *b->list, compare);
}
