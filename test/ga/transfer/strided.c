/* strided.c: tests put, get and acc of every n-th element of a box in each dimension. */
#include <stdlib.h>
#include <string.h>

#include "grid.h"
#include "wide.h"

struct lattice {
    struct box box;
    int skip[GA_MAX_DIM], count[GA_MAX_DIM], ld[GA_MAX_DIM];
    long room;
};

/* In one or two dimensions a box is anywhere in a share of the array. In more dimensions it stays in the part of one
 * rank: libga 5.8.2 misplaces the pieces of a box with several parts in the buffer. */
static struct box draw_place(int array, const struct grid *grid, int share, int shares, uint64_t *state) {
    struct box box = {0}, part = {0};
    int owner = shares == 1 ? draw_below(state, ranks) : (share + 1) % shares;
    if (grid->ndim <= 2)
        return draw_box_of(grid, share, shares, state);
    NGA_Distribution(array, owner, part.lo, part.hi);
    for (int d = 0; d < grid->ndim; d++) {
        box.lo[d] = draw_between(state, part.lo[d], part.hi[d]);
        box.hi[d] = draw_between(state, box.lo[d], part.hi[d]);
    }
    return box;
}

/* The chosen elements, packed, with gaps between the rows. A box ends with a chosen element: libga 5.8.2 writes to a
 * part of the array that a box reaches without a chosen element in it. */
static struct lattice draw_lattice(int array, const struct grid *grid, int share, int shares,
                                   uint64_t *state) {
    struct lattice l = {.room = 1};
    l.box = draw_place(array, grid, share, shares, state);
    for (int d = 0; d < grid->ndim; d++) {
        l.skip[d] = draw_between(state, 1, 3);
        l.count[d] = (l.box.hi[d] - l.box.lo[d]) / l.skip[d] + 1;
        l.box.hi[d] = l.box.lo[d] + (l.count[d] - 1) * l.skip[d];
        int extent = l.count[d];
        if (d > 0)
            extent = l.ld[d - 1] = extent + draw_below(state, 3);
        l.room *= extent;
    }
    return l;
}

typedef void visitor(struct grid *grid, long in_grid, void *packed, long in_packed, number alpha);

static void visit(struct lattice *l, struct grid *grid, void *packed, number alpha, visitor *do_it) {
    struct box counts = {0};
    int at[GA_MAX_DIM] = {0}, place[GA_MAX_DIM];
    for (int d = 0; d < grid->ndim; d++)
        counts.hi[d] = l->count[d] - 1;
    do {
        long offset = at[0];
        for (int d = 0; d < grid->ndim; d++) {
            place[d] = l->box.lo[d] + at[d] * l->skip[d];
            if (d > 0)
                offset = offset * l->ld[d - 1] + at[d];
        }
        do_it(grid, grid_offset(grid, place), packed, offset, alpha);
    } while (box_next(grid->ndim, &counts, at));
}

static void put_one(struct grid *grid, long at, void *packed, long in_packed, number alpha) {
    (void)alpha;
    grid->at[at] = load(grid->type, packed, in_packed);
}

static void acc_one(struct grid *grid, long at, void *packed, long in_packed, number alpha) {
    grid->at[at] += alpha * load(grid->type, packed, in_packed);
}

static void expect_one(struct grid *grid, long at, void *packed, long in_packed, number alpha) {
    (void)alpha;
    expect(grid->at[at] == load(grid->type, packed, in_packed));
}

static void *draw_packed(const struct lattice *l, int type, uint64_t *state) {
    void *packed = need((size_t)l->room * type_size(type));
    for (long i = 0; i < l->room; i++)
        store(type, packed, i, draw_number(state, type));
    return packed;
}

static void put(int g, struct lattice *l, void *packed) {
    if (turn())
        NGA_Strided_put(g, l->box.lo, l->box.hi, l->skip, packed, l->ld);
    else
        NGA_Strided_put64(g, WIDE(l->box.lo, g), WIDE(l->box.hi, g), WIDE(l->skip, g), packed,
                          WIDE_LD(l->ld, g));
}

static void get(int g, struct lattice *l, void *packed) {
    if (turn())
        NGA_Strided_get(g, l->box.lo, l->box.hi, l->skip, packed, l->ld);
    else
        NGA_Strided_get64(g, WIDE(l->box.lo, g), WIDE(l->box.hi, g), WIDE(l->skip, g), packed,
                          WIDE_LD(l->ld, g));
}

static void acc(int g, struct lattice *l, void *packed, void *alpha) {
    if (turn())
        NGA_Strided_acc(g, l->box.lo, l->box.hi, l->skip, packed, l->ld, alpha);
    else
        NGA_Strided_acc64(g, WIDE(l->box.lo, g), WIDE(l->box.hi, g), WIDE(l->skip, g), packed,
                          WIDE_LD(l->ld, g), alpha);
}

static void write_all(int array, struct grid *grid, uint64_t seed, bool accumulate) {
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t state = seed + (uint64_t)rank;
        for (int i = 0; i < 3; i++) {
            struct lattice l =
                draw_lattice(array, grid, accumulate ? 0 : rank, accumulate ? 1 : ranks, &state);
            void *packed = draw_packed(&l, grid->type, &state);
            number alpha = draw_number(&state, grid->type);
            if (rank == me && accumulate)
                acc(array, &l, packed, scalar(grid->type, alpha));
            else if (rank == me)
                put(array, &l, packed);
            visit(&l, grid, packed, alpha, accumulate ? acc_one : put_one);
            free(packed);
        }
    }
    GA_Sync();
}

static void get_some(int array, struct grid *grid, uint64_t seed) {
    uint64_t state = seed + (uint64_t)me;
    for (int i = 0; i < 4; i++) {
        struct lattice l = draw_lattice(array, grid, 0, 1, &state);
        void *packed = draw_packed(&l, grid->type, &state);
        get(array, &l, packed);
        visit(&l, grid, packed, 0, expect_one);
        free(packed);
    }
}

static void try_type(int type) {
    uint64_t state = test_seed + (uint64_t)type;
    for (int ndim = 1; ndim <= 4; ndim++) {
        int dims[] = {ndim == 1 ? 500 : 16, ndim == 2 ? 40 : 9, 8, 5};
        struct grid grid = grid_new(type, ndim, dims);
        int array = NGA_Create(type, ndim, dims, "strided", NULL);
        GA_Zero(array);
        write_all(array, &grid, draw(&state), false);
        get_some(array, &grid, draw(&state));
        GA_Sync();
        write_all(array, &grid, draw(&state), true);
        expect_array(array, &grid);
        GA_Sync();
        GA_Destroy(array);
        grid_free(&grid);
    }
}

CASE(ints) {
    try_type(C_INT);
}

CASE(longs) {
    try_type(C_LONG);
}

CASE(floats) {
    try_type(C_FLOAT);
}

CASE(doubles) {
    try_type(C_DBL);
}

CASE(float_complexes) {
    try_type(C_SCPL);
}

CASE(double_complexes) {
    try_type(C_DCPL);
}
