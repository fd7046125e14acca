/* patch.c: a box of cells with a rim of one cell around it, which holds copies of the neighbours' cells.
 *
 *      r r r r r r          direction (-1, 0): the cells a are packed, the rim w is unpacked
 *      w a . . b r          direction (+1, +1): one cell, the corner
 *      w a . . b r
 *      r r r r r r          a flat grid has one layer of cells, and no neighbours above and below
 *
 * A side is packed and unpacked in the same order, x fastest, so that a message needs no header. */
#include "halo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

struct box {
    int from[3], to[3]; /* inclusive */
};

void halo_step(int direction, int step[3]) {
    step[0] = direction % 3 - 1;
    step[1] = direction / 3 % 3 - 1;
    step[2] = direction / 9 - 1;
}

bool halo_reaches(int points, int direction) {
    int s[3];
    halo_step(direction, s);
    int steps = (s[0] != 0) + (s[1] != 0) + (s[2] != 0);
    if (!steps || (halo_is_flat(points) && s[2]))
        return false;
    return points == 9 || points == 27 || steps == 1;
}

static size_t room_of(const struct halo_patch *p) {
    return (size_t)(p->cells[0] + 2) * (size_t)(p->cells[1] + 2) * (size_t)(p->cells[2] + 2);
}

int halo_patch_open(struct halo_patch *p, const int cells[3], const int64_t at[3]) {
    memcpy(p->cells, cells, sizeof p->cells);
    memcpy(p->at, at, sizeof p->at);
    p->now = calloc(room_of(p), sizeof *p->now);
    p->next = calloc(room_of(p), sizeof *p->next);
    return p->now && p->next ? APP_OK : APP_FAILED;
}

void halo_patch_close(struct halo_patch *p) {
    free(p->now);
    free(p->next);
    p->now = p->next = NULL;
}

size_t halo_patch_place(const struct halo_patch *p, int x, int y, int z) {
    return ((size_t)z * (size_t)(p->cells[1] + 2) + (size_t)y) * (size_t)(p->cells[0] + 2) + (size_t)x;
}

/* ---- sides ---- */

static struct box side(const struct halo_patch *p, int direction, bool rim) {
    struct box b;
    int s[3];
    halo_step(direction, s);
    for (int i = 0; i < 3; i++) {
        int edge = s[i] < 0 ? !rim : p->cells[i] + rim;
        b.from[i] = s[i] ? edge : 1;
        b.to[i] = s[i] ? edge : p->cells[i];
    }
    return b;
}

int halo_patch_side(const struct halo_patch *p, int direction) {
    struct box b = side(p, direction, false);
    return (b.to[0] - b.from[0] + 1) * (b.to[1] - b.from[1] + 1) * (b.to[2] - b.from[2] + 1);
}

void halo_patch_pack(const struct halo_patch *p, int direction, double *out) {
    struct box b = side(p, direction, false);
    size_t row = (size_t)(b.to[0] - b.from[0] + 1);
    for (int z = b.from[2]; z <= b.to[2]; z++)
        for (int y = b.from[1]; y <= b.to[1]; y++, out += row)
            memcpy(out, p->now + halo_patch_place(p, b.from[0], y, z), row * sizeof *out);
}

void halo_patch_unpack(struct halo_patch *p, int direction, const double *in) {
    struct box b = side(p, direction, true);
    size_t row = (size_t)(b.to[0] - b.from[0] + 1);
    for (int z = b.from[2]; z <= b.to[2]; z++)
        for (int y = b.from[1]; y <= b.to[1]; y++, in += row)
            memcpy(p->now + halo_patch_place(p, b.from[0], y, z), in, row * sizeof *in);
}

void halo_patch_copy(struct halo_patch *p, int direction, const struct halo_patch *neighbour) {
    struct box to = side(p, direction, true);
    struct box from = side(neighbour, HALO_DIRECTIONS - 1 - direction, false);
    size_t row = (size_t)(to.to[0] - to.from[0] + 1);
    for (int z = 0; z <= to.to[2] - to.from[2]; z++)
        for (int y = 0; y <= to.to[1] - to.from[1]; y++)
            memcpy(p->now + halo_patch_place(p, to.from[0], to.from[1] + y, to.from[2] + z),
                   neighbour->now +
                       halo_patch_place(neighbour, from.from[0], from.from[1] + y, from.from[2] + z),
                   row * sizeof *p->now);
}

/* ---- computation ---- */

/* A different number of waves along each axis, so that no two directions look the same. */
void halo_wave_open(struct halo_wave *w, const int64_t grid[3], int points, double phase) {
    double sum = 0;
    w->phase = phase;
    for (int i = 0; i < 3; i++)
        w->k[i] = grid[i] > 1 ? 2 * M_PI * (i + 1) / (double)grid[i] : 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        int s[3];
        halo_step(d, s);
        if (halo_reaches(points, d))
            sum += cos(w->k[0] * s[0] + w->k[1] * s[1] + w->k[2] * s[2]);
    }
    w->factor = 0.5 + 0.5 * sum / (points - 1);
}

static double wave_at(const struct halo_patch *p, const struct halo_wave *w, int x, int y, int z) {
    return cos(w->k[0] * (double)(p->at[0] + x - 1) + w->k[1] * (double)(p->at[1] + y - 1) +
               w->k[2] * (double)(p->at[2] + z - 1) + w->phase);
}

void halo_patch_fill(struct halo_patch *p, const struct halo_wave *w) {
    for (int z = 1; z <= p->cells[2]; z++)
        for (int y = 1; y <= p->cells[1]; y++)
            for (int x = 1; x <= p->cells[0]; x++)
                p->now[halo_patch_place(p, x, y, z)] = wave_at(p, w, x, y, z);
}

/* The distances in memory to the neighbours of a cell, in the order of summation. The order is fixed, so that
 * the result does not depend on how the grid is divided. */
static int distances(const struct halo_patch *p, int points, ptrdiff_t *out) {
    int count = 0;
    for (int d = 0; d < HALO_DIRECTIONS; d++) {
        int s[3];
        halo_step(d, s);
        if (halo_reaches(points, d))
            out[count++] = ((ptrdiff_t)s[2] * (p->cells[1] + 2) + s[1]) * (p->cells[0] + 2) + s[0];
    }
    return count;
}

void halo_patch_update(struct halo_patch *p, int points) {
    ptrdiff_t to[HALO_DIRECTIONS];
    int count = distances(p, points, to);
    double share = 0.5 / count, *swap = p->now;
    for (int z = 1; z <= p->cells[2]; z++)
        for (int y = 1; y <= p->cells[1]; y++) {
            const double *cell = p->now + halo_patch_place(p, 1, y, z);
            double *out = p->next + halo_patch_place(p, 1, y, z);
            for (int x = 0; x < p->cells[0]; x++) {
                double sum = 0;
                for (int i = 0; i < count; i++)
                    sum += cell[x + to[i]];
                out[x] = 0.5 * cell[x] + share * sum;
            }
        }
    p->now = p->next;
    p->next = swap;
}

double halo_patch_error(const struct halo_patch *p, const struct halo_wave *w, uint64_t steps) {
    double amplitude = pow(w->factor, (double)steps), most = 0;
    for (int z = 1; z <= p->cells[2]; z++)
        for (int y = 1; y <= p->cells[1]; y++)
            for (int x = 1; x <= p->cells[0]; x++) {
                double error =
                    fabs(p->now[halo_patch_place(p, x, y, z)] - amplitude * wave_at(p, w, x, y, z));
                if (!(error <= most)) /* a NaN too */
                    most = error;
            }
    return most;
}

uint64_t halo_patch_checksum(const struct halo_patch *p, uint64_t salt) {
    uint64_t sum = 0, bits;
    for (int z = 1; z <= p->cells[2]; z++)
        for (int y = 1; y <= p->cells[1]; y++)
            for (int x = 1; x <= p->cells[0]; x++) {
                uint64_t where = random_mix((uint64_t)(p->at[0] + x)) ^
                                 random_mix((uint64_t)(p->at[1] + y) << 20) ^
                                 random_mix((uint64_t)(p->at[2] + z) << 40) ^ random_mix(~salt);
                memcpy(&bits, p->now + halo_patch_place(p, x, y, z), sizeof bits);
                sum += random_mix(where ^ bits);
            }
    return sum;
}
