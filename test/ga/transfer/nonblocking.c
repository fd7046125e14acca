/* nonblocking.c: tests many pending puts, gets and accs, completed in other orders than they were started. */
#include <stdlib.h>

#include "grid.h"
#include "wide.h"

enum { FLIGHT = 12 };

static void start_put(int g, struct box *b, struct piece *p, ga_nbhdl_t *h) {
    if (turn())
        NGA_NbPut(g, b->lo, b->hi, p->bytes, p->ld, h);
    else
        NGA_NbPut64(g, WIDE(b->lo, g), WIDE(b->hi, g), p->bytes, WIDE_LD(p->ld, g), h);
}

static void start_get(int g, struct box *b, struct piece *p, ga_nbhdl_t *h) {
    if (turn())
        NGA_NbGet(g, b->lo, b->hi, p->bytes, p->ld, h);
    else
        NGA_NbGet64(g, WIDE(b->lo, g), WIDE(b->hi, g), p->bytes, WIDE_LD(p->ld, g), h);
}

static void start_acc(int g, struct box *b, struct piece *p, void *alpha, ga_nbhdl_t *h) {
    if (turn())
        NGA_NbAcc(g, b->lo, b->hi, p->bytes, p->ld, alpha, h);
    else
        NGA_NbAcc64(g, WIDE(b->lo, g), WIDE(b->hi, g), p->bytes, WIDE_LD(p->ld, g), alpha, h);
}

/* A successful test completes the operation like a wait. */
static void finish(ga_nbhdl_t *handle, bool poll) {
    for (int i = 0; i < 3 && poll; i++)
        if (NGA_NbTest(handle))
            return;
    NGA_NbWait(handle);
}

static void expect_gets(int array, struct grid *grid, uint64_t seed) {
    uint64_t state = seed + (uint64_t)me;
    struct box boxes[FLIGHT];
    struct piece pieces[FLIGHT];
    ga_nbhdl_t handles[FLIGHT];
    for (int i = 0; i < FLIGHT; i++) {
        boxes[i] = draw_box(grid, &state);
        pieces[i] = piece_new(grid, &boxes[i], &state);
        start_get(array, &boxes[i], &pieces[i], &handles[i]);
    }
    for (int i = FLIGHT - 1; i >= 0; i--) {
        finish(&handles[i], i % 2);
        expect_piece(grid, &boxes[i], &pieces[i]);
        piece_free(&pieces[i]);
    }
}

/* The puts of one rank stay in its share and do not overlap: each has a part of the share. */
static void write_all(int array, struct grid *grid, uint64_t seed, bool accumulate) {
    ga_nbhdl_t handles[FLIGHT];
    struct piece mine[FLIGHT];
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t state = seed + (uint64_t)rank;
        for (int i = 0; i < FLIGHT; i++) {
            struct box box = accumulate ? draw_box(grid, &state)
                                        : draw_box_of(grid, rank * FLIGHT + i, ranks * FLIGHT, &state);
            struct piece piece = piece_new(grid, &box, &state);
            number alpha = accumulate ? draw_number(&state, grid->type) : 1;
            piece_fill(&piece, &state);
            if (rank == me && accumulate)
                start_acc(array, &box, &piece, scalar(grid->type, alpha), &handles[i]);
            else if (rank == me)
                start_put(array, &box, &piece, &handles[i]);
            if (accumulate)
                grid_acc(grid, &box, &piece, alpha);
            else
                grid_put(grid, &box, &piece);
            if (rank == me)
                mine[i] = piece;
            else
                piece_free(&piece);
        }
    }
    for (int i = 0; i < FLIGHT; i++) {
        int which = i * 5 % FLIGHT; /* 5 and 12 have no common factor */
        finish(&handles[which], i % 2);
        piece_free(&mine[which]); /* after the wait the buffer may be reused */
    }
    GA_Sync();
}

static void try_type(int type) {
    uint64_t state = test_seed + (uint64_t)type;
    for (int ndim = 1; ndim <= 5; ndim += 2) {
        int dims[] = {FLIGHT * ranks * 2, 7, 5, 4, 3};
        struct grid grid = grid_new(type, ndim, dims);
        int array = array_new(&grid, &state);
        GA_Zero(array);
        write_all(array, &grid, draw(&state), false);
        expect_gets(array, &grid, draw(&state));
        GA_Sync();
        write_all(array, &grid, draw(&state), true);
        expect_gets(array, &grid, draw(&state));
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

/* More operations than GA's list of pending requests holds, one element each. */
CASE(hundreds_under_way) {
    enum { MANY = 300 };
    int dims[] = {MANY * ranks};
    struct grid grid = grid_new(C_LONG, 1, dims);
    int array = NGA_Create(C_LONG, 1, dims, "hundreds", NULL);
    long *values = need(MANY * sizeof *values);
    ga_nbhdl_t *handles = need(MANY * sizeof *handles);
    for (int i = 0; i < MANY * ranks; i++)
        grid.at[i] = 3 * i + 1;
    for (int i = 0; i < MANY; i++) {
        int at[] = {i * ranks + me};
        values[i] = 3 * at[0] + 1;
        NGA_NbPut(array, at, at, &values[i], NULL, &handles[i]);
    }
    for (int i = 0; i < MANY; i++)
        NGA_NbWait(&handles[i]);
    GA_Sync();
    expect_array(array, &grid);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
    free(values);
    free(handles);
}
