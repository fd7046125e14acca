/* scatter.c: tests operations on single elements at random places, many in one call: scatter, gather and scatter_acc,
 * with subscripts as a list of pointers and as one flat list. */
#include <stdlib.h>
#include <string.h>

#include "grid.h"

enum { MOST = 400 };

/* The places of a call in all the forms that GA takes. */
struct places {
    int count, ndim;
    int *flat, **lists;
    int64_t *wide_flat, **wide_lists;
    void *values;
};

static struct places places_new(const struct grid *grid, int count) {
    struct places p = {.count = count, .ndim = grid->ndim};
    size_t n = (size_t)count, all = n * (size_t)grid->ndim;
    p.flat = need(all * sizeof *p.flat);
    p.wide_flat = need(all * sizeof *p.wide_flat);
    p.lists = need(n * sizeof *p.lists);
    p.wide_lists = need(n * sizeof *p.wide_lists);
    p.values = need(n * type_size(grid->type));
    for (int i = 0; i < count; i++) {
        p.lists[i] = p.flat + i * grid->ndim;
        p.wide_lists[i] = p.wide_flat + i * grid->ndim;
    }
    return p;
}

static void places_free(struct places *p) {
    free(p->flat);
    free(p->wide_flat);
    free(p->lists);
    free(p->wide_lists);
    free(p->values);
}

static void set_place(struct places *p, const struct grid *grid, int i, long offset) {
    for (int d = grid->ndim - 1; d >= 0; d--) {
        p->lists[i][d] = (int)(offset % grid->dims[d]);
        p->wide_lists[i][d] = p->lists[i][d];
        offset /= grid->dims[d];
    }
}

/* Lists of pointers to int64_t work in one dimension only: libga 5.8.2 reads them as pointers to int. */
static int form(const struct places *p, int how) {
    how %= 4;
    return how == 2 && p->ndim > 1 ? 3 : how;
}

static void scatter(int array, struct places *p, int how) {
    switch (form(p, how)) {
    case 0:
        NGA_Scatter(array, p->values, p->lists, p->count);
        break;
    case 1:
        NGA_Scatter_flat(array, p->values, p->flat, p->count);
        break;
    case 2:
        NGA_Scatter64(array, p->values, p->wide_lists, p->count);
        break;
    default:
        NGA_Scatter_flat64(array, p->values, p->wide_flat, p->count);
    }
}

static void gather(int array, struct places *p, int how) {
    switch (form(p, how)) {
    case 0:
        NGA_Gather(array, p->values, p->lists, p->count);
        break;
    case 1:
        NGA_Gather_flat(array, p->values, p->flat, p->count);
        break;
    case 2:
        NGA_Gather64(array, p->values, p->wide_lists, p->count);
        break;
    default:
        NGA_Gather_flat64(array, p->values, p->wide_flat, p->count);
    }
}

static void scatter_acc(int array, struct places *p, void *alpha, int how) {
    switch (form(p, how)) {
    case 0:
        NGA_Scatter_acc(array, p->values, p->lists, p->count, alpha);
        break;
    case 1:
        NGA_Scatter_acc_flat(array, p->values, p->flat, p->count, alpha);
        break;
    case 2:
        NGA_Scatter_acc64(array, p->values, p->wide_lists, p->count, alpha);
        break;
    default:
        NGA_Scatter_acc_flat64(array, p->values, p->wide_flat, p->count, alpha);
    }
}

/* All ranks at once: each scatters to places of its own, then accumulates to places that others may use too, and that
 * may occur twice in a list. */
static void write_all(int array, struct grid *grid, uint64_t seed, int how, bool accumulate) {
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t state = seed + (uint64_t)rank;
        long own = grid->count / ranks;
        int count = draw_between(&state, 1, MOST < own ? MOST : (int)own);
        struct places p = places_new(grid, count);
        number alpha = accumulate ? draw_number(&state, grid->type) : 1;
        long start = (long)(draw(&state) % (uint64_t)own);
        for (int i = 0; i < count; i++) {
            long at =
                accumulate ? (long)(draw(&state) % (uint64_t)grid->count) : (start + i) % own * ranks + rank;
            number value = draw_number(&state, grid->type);
            set_place(&p, grid, i, at);
            store(grid->type, p.values, i, value);
            grid->at[at] = accumulate ? grid->at[at] + alpha * value : value;
        }
        if (rank == me && accumulate)
            scatter_acc(array, &p, scalar(grid->type, alpha), how);
        else if (rank == me)
            scatter(array, &p, how);
        places_free(&p);
    }
    GA_Sync();
}

static void gather_some(int array, struct grid *grid, uint64_t seed, int how) {
    uint64_t state = seed + (uint64_t)me;
    int count = draw_between(&state, 1, MOST);
    struct places p = places_new(grid, count);
    long *offsets = need((size_t)count * sizeof *offsets);
    for (int i = 0; i < count; i++) {
        offsets[i] = (long)(draw(&state) % (uint64_t)grid->count);
        set_place(&p, grid, i, offsets[i]);
    }
    gather(array, &p, how);
    for (int i = 0; i < count; i++)
        expect(load(grid->type, p.values, i) == grid->at[offsets[i]]);
    free(offsets);
    places_free(&p);
}

static void try_type(int type) {
    uint64_t state = test_seed + (uint64_t)type;
    for (int ndim = 1; ndim <= 4; ndim++) {
        int dims[] = {ndim == 1 ? 900 : 40, 23, 6, 4};
        struct grid grid = grid_new(type, ndim, dims);
        int array = NGA_Create(type, ndim, dims, "scattered", NULL);
        GA_Zero(array);
        for (int how = ndim; how < ndim + 2; how++) {
            write_all(array, &grid, draw(&state), how, false);
            gather_some(array, &grid, draw(&state), how);
            GA_Sync();
            write_all(array, &grid, draw(&state), how, true);
            gather_some(array, &grid, draw(&state), how + 1);
            GA_Sync();
        }
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

CASE(double_complexes) {
    try_type(C_DCPL);
}

CASE(with_buffers_kept) {
    NGA_Alloc_gatscat_buf(MOST);
    try_type(C_DBL);
    NGA_Free_gatscat_buf();
}

CASE(nothing_at_all) {
    int dims[] = {10}, array = NGA_Create(C_INT, 1, dims, "none", NULL), value = 0, *lists[1];
    int at[] = {0};
    lists[0] = at;
    GA_Zero(array);
    NGA_Scatter(array, &value, lists, 0);
    NGA_Gather(array, &value, lists, 0);
    GA_Sync();
    GA_Destroy(array);
}
