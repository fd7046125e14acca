/* periodic.c: tests boxes that wrap around the boundaries of the array. */
#include <stdlib.h>

#include "grid.h"
#include "wide.h"

static struct box draw_periodic(const struct grid *grid, uint64_t *state) {
    struct box box = {0};
    for (int d = 0; d < grid->ndim; d++) {
        box.lo[d] = draw_between(state, -grid->dims[d], grid->dims[d]);
        box.hi[d] = box.lo[d] + draw_below(state, grid->dims[d]);
    }
    return box;
}

static long wrap(const struct grid *grid, const int at[]) {
    int inside[GA_MAX_DIM];
    for (int d = 0; d < grid->ndim; d++)
        inside[d] = (at[d] % grid->dims[d] + grid->dims[d]) % grid->dims[d];
    return grid_offset(grid, inside);
}

static void put(int g, struct box *box, struct piece *p) {
    if (turn())
        NGA_Periodic_put(g, box->lo, box->hi, p->bytes, p->ld);
    else
        NGA_Periodic_put64(g, WIDE(box->lo, g), WIDE(box->hi, g), p->bytes, WIDE_LD(p->ld, g));
}

static void get(int g, struct box *box, struct piece *p) {
    if (turn())
        NGA_Periodic_get(g, box->lo, box->hi, p->bytes, p->ld);
    else
        NGA_Periodic_get64(g, WIDE(box->lo, g), WIDE(box->hi, g), p->bytes, WIDE_LD(p->ld, g));
}

static void acc(int g, struct box *box, struct piece *p, void *alpha) {
    if (turn())
        NGA_Periodic_acc(g, box->lo, box->hi, p->bytes, p->ld, alpha);
    else
        NGA_Periodic_acc64(g, WIDE(box->lo, g), WIDE(box->hi, g), p->bytes, WIDE_LD(p->ld, g), alpha);
}

/* Puts run one after the other, as they overlap; accs run on all ranks at once. */
static void write_some(int array, struct grid *grid, uint64_t *state, bool accumulate) {
    for (int i = 0; i < 2 * ranks; i++) {
        struct box box = draw_periodic(grid, state);
        struct piece piece = piece_new(grid, &box, state);
        number alpha = accumulate ? draw_number(state, grid->type) : 1;
        int at[GA_MAX_DIM];
        piece_fill(&piece, state);
        if (i % ranks == me && accumulate)
            acc(array, &box, &piece, scalar(grid->type, alpha));
        else if (i % ranks == me)
            put(array, &box, &piece);
        for (int d = 0; d < grid->ndim; d++)
            at[d] = box.lo[d];
        do {
            number *to = &grid->at[wrap(grid, at)];
            number value = alpha * load(grid->type, piece.bytes, piece_offset(&piece, &box, at));
            *to = accumulate ? *to + value : value;
        } while (box_next(grid->ndim, &box, at));
        piece_free(&piece);
        if (!accumulate)
            GA_Sync();
    }
    GA_Sync();
}

static void get_some(int array, struct grid *grid, uint64_t seed) {
    uint64_t state = seed + (uint64_t)me;
    for (int i = 0; i < 4; i++) {
        struct box box = draw_periodic(grid, &state);
        struct piece piece = piece_new(grid, &box, &state);
        int at[GA_MAX_DIM];
        get(array, &box, &piece);
        for (int d = 0; d < grid->ndim; d++)
            at[d] = box.lo[d];
        do
            expect(load(grid->type, piece.bytes, piece_offset(&piece, &box, at)) == grid->at[wrap(grid, at)]);
        while (box_next(grid->ndim, &box, at));
        piece_free(&piece);
    }
}

static void try_type(int type) {
    uint64_t state = test_seed + (uint64_t)type;
    for (int ndim = 1; ndim <= 4; ndim++) {
        int dims[] = {ndim == 1 ? 200 : 12, 9, 7, 5};
        struct grid grid = grid_new(type, ndim, dims);
        int array = NGA_Create(type, ndim, dims, "periodic", NULL);
        GA_Zero(array);
        write_some(array, &grid, &state, false);
        get_some(array, &grid, draw(&state));
        GA_Sync();
        write_some(array, &grid, &state, true);
        expect_array(array, &grid);
        GA_Sync();
        GA_Destroy(array);
        grid_free(&grid);
    }
}

CASE(ints) {
    try_type(C_INT);
}

CASE(doubles) {
    try_type(C_DBL);
}

CASE(double_complexes) {
    try_type(C_DCPL);
}
