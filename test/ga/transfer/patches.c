/* patches.c: tests put, get and acc of random boxes, in 1 to 7 dimensions, of all types, on arrays of all
 * distributions, with leading dimensions larger than the box.
 *
 * All ranks write at once: puts into disjoint shares of the array, accs anywhere. Every rank computes what all ranks
 * do, so each knows the contents of the array after the next sync. */
#include "grid.h"
#include "wide.h"

static void put(int array, struct box *box, struct piece *piece) {
    if (turn())
        NGA_Put(array, box->lo, box->hi, piece->bytes, piece->ld);
    else
        NGA_Put64(array, WIDE(box->lo, array), WIDE(box->hi, array), piece->bytes, WIDE_LD(piece->ld, array));
}

static void get(int array, struct box *box, struct piece *piece) {
    if (turn())
        NGA_Get(array, box->lo, box->hi, piece->bytes, piece->ld);
    else
        NGA_Get64(array, WIDE(box->lo, array), WIDE(box->hi, array), piece->bytes, WIDE_LD(piece->ld, array));
}

static void acc(int array, struct box *box, struct piece *piece, void *alpha) {
    if (turn())
        NGA_Acc(array, box->lo, box->hi, piece->bytes, piece->ld, alpha);
    else
        NGA_Acc64(array, WIDE(box->lo, array), WIDE(box->hi, array), piece->bytes, WIDE_LD(piece->ld, array),
                  alpha);
}

/* The puts of every rank; this rank executes only its own. */
static void put_all(int array, struct grid *grid, uint64_t seed, int shift) {
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t state = seed + (uint64_t)rank;
        for (int i = 0; i < 3; i++) {
            struct box box = draw_box_of(grid, (rank + shift) % ranks, ranks, &state);
            struct piece piece = piece_new(grid, &box, &state);
            piece_fill(&piece, &state);
            if (rank == me)
                put(array, &box, &piece);
            grid_put(grid, &box, &piece);
            piece_free(&piece);
        }
    }
    GA_Sync();
}

static void acc_all(int array, struct grid *grid, uint64_t seed) {
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t state = seed + (uint64_t)rank;
        for (int i = 0; i < 3; i++) {
            struct box box = draw_box(grid, &state);
            struct piece piece = piece_new(grid, &box, &state);
            number alpha = i == 0 ? 1 : draw_number(&state, grid->type);
            piece_fill(&piece, &state);
            if (rank == me)
                acc(array, &box, &piece, scalar(grid->type, alpha));
            grid_acc(grid, &box, &piece, alpha);
            piece_free(&piece);
        }
    }
    GA_Sync();
}

static void get_some(int array, struct grid *grid, uint64_t seed) {
    uint64_t state = seed + (uint64_t)me;
    for (int i = 0; i < 4; i++) {
        struct box box = draw_box(grid, &state);
        struct piece piece = piece_new(grid, &box, &state);
        get(array, &box, &piece);
        expect_piece(grid, &box, &piece);
        piece_free(&piece);
    }
}

static struct grid draw_grid(int type, int ndim, uint64_t *state) {
    static const int most[] = {0, 3000, 60, 20, 9, 6, 5, 4};
    int dims[GA_MAX_DIM];
    for (int d = 0; d < ndim; d++)
        dims[d] = draw_between(state, 2, most[ndim]);
    if (dims[0] < ranks)
        dims[0] = ranks;
    return grid_new(type, ndim, dims);
}

static void try_array(int type, int ndim, uint64_t *state) {
    struct grid grid = draw_grid(type, ndim, state);
    int array = array_new(&grid, state);
    GA_Zero(array);
    for (int round = 0; round < 2; round++) {
        put_all(array, &grid, draw(state), round);
        get_some(array, &grid, draw(state));
        if (type != C_LONGLONG) { /* GA has no acc for it */
            GA_Sync();
            acc_all(array, &grid, draw(state));
        }
        expect_array(array, &grid);
        GA_Sync();
    }
    GA_Destroy(array);
    grid_free(&grid);
}

static void try_type(int type) {
    uint64_t state = test_seed + (uint64_t)type;
    for (int ndim = 1; ndim <= GA_MAX_DIM; ndim++)
        try_array(type, ndim, &state);
}

CASE(ints) {
    try_type(C_INT);
}

CASE(longs) {
    try_type(C_LONG);
}

CASE(long_longs) {
    try_type(C_LONGLONG);
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
