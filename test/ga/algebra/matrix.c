/* matrix.c: tests matrix operations that depend on rows, columns and the diagonal. */
#include <stdlib.h>

#include "grid.h"
#include "wide.h"

enum { N = 23, M = 14 };

struct matrix {
    struct grid grid;
    int array;
};

static struct matrix matrix_new(int rows, int columns, uint64_t *state) {
    struct matrix m = {.grid = grid_new(C_DBL, columns ? 2 : 1, (int[]){rows, columns})};
    grid_fill(&m.grid, state);
    m.array = array_of(&m.grid);
    return m;
}

static void expect_and_free(struct matrix *m) {
    GA_Sync();
    expect_array(m->array, &m->grid);
    GA_Sync();
    GA_Destroy(m->array);
    grid_free(&m->grid);
}

CASE(transposition) {
    uint64_t state = test_seed;
    struct matrix a = matrix_new(N, M, &state), b = matrix_new(M, N, &state);
    GA_Transpose(a.array, b.array);
    for (int i = 0; i < N * M; i++)
        b.grid.at[i % M * N + i / M] = a.grid.at[i];
    expect_and_free(&a);
    expect_and_free(&b);
}

CASE(transposed_copies_of_boxes) {
    uint64_t state = test_seed;
    for (int round = 0; round < 8; round++) {
        struct matrix a = matrix_new(N, M, &state), b = matrix_new(M, N, &state);
        struct box from = draw_box(&a.grid, &state), turned = {0};
        for (int d = 0; d < 2; d++)
            turned.hi[d] = from.hi[1 - d] - from.lo[1 - d];
        struct box to = move_box(&b.grid, &turned, &state);
        if (turn())
            NGA_Copy_patch('t', a.array, from.lo, from.hi, b.array, to.lo, to.hi);
        else
            NGA_Copy_patch64('t', a.array, widen(from.lo, 2).at, widen(from.hi, 2).at, b.array,
                             widen(to.lo, 2).at, widen(to.hi, 2).at);
        for (int i = from.lo[0]; i <= from.hi[0]; i++)
            for (int j = from.lo[1]; j <= from.hi[1]; j++)
                b.grid.at[(to.lo[0] + j - from.lo[1]) * N + to.lo[1] + i - from.lo[0]] = a.grid.at[i * M + j];
        expect_and_free(&a);
        expect_and_free(&b);
    }
}

CASE(symmetry) {
    uint64_t state = test_seed;
    struct matrix a = matrix_new(N, N, &state);
    GA_Symmetrize(a.array);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            a.grid.at[i * N + j] = a.grid.at[j * N + i] = (a.grid.at[i * N + j] + a.grid.at[j * N + i]) / 2;
    expect_and_free(&a);
}

CASE(diagonals) {
    uint64_t state = test_seed;
    struct matrix a = matrix_new(N, N, &state), v = matrix_new(N, 0, &state), w = matrix_new(N, 0, &state);
    double c = 5;
    GA_Add_diagonal(a.array, v.array);
    GA_Shift_diagonal(a.array, &c);
    GA_Get_diag(a.array, w.array);
    for (int i = 0; i < N; i++)
        w.grid.at[i] = a.grid.at[i * N + i] += v.grid.at[i] + c;
    expect_and_free(&w);
    expect_and_free(&a);
    a = matrix_new(N, N, &state);
    GA_Set_diagonal(a.array, v.array);
    for (int i = 0; i < N; i++)
        a.grid.at[i * N + i] = v.grid.at[i];
    expect_and_free(&a);
    expect_and_free(&v);
}

/* The matrix is one part, on one rank: in parts that do not begin at zero libga 5.8.2 zeroes other elements. */
CASE(zero_diagonal) {
    uint64_t state = test_seed;
    struct grid grid = grid_new(C_DBL, 2, (int[]){N, N});
    grid_fill(&grid, &state);
    int array = NGA_Create(C_DBL, 2, grid.dims, "one part", grid.dims);
    array_set(array, &grid);
    GA_Zero_diagonal(array);
    GA_Sync();
    for (int i = 0; i < N; i++)
        grid.at[i * N + i] = 0;
    expect_array(array, &grid);
    GA_Sync();
    GA_Destroy(array);
    grid_free(&grid);
}

CASE(scaled_rows_and_columns) {
    uint64_t state = test_seed;
    struct matrix a = matrix_new(N, M, &state), rows = matrix_new(N, 0, &state),
                  columns = matrix_new(M, 0, &state);
    GA_Scale_rows(a.array, rows.array);
    GA_Scale_cols(a.array, columns.array);
    for (int i = 0; i < N * M; i++)
        a.grid.at[i] *= rows.grid.at[i / M] * columns.grid.at[i % M];
    expect_and_free(&a);
    expect_and_free(&rows);
    expect_and_free(&columns);
}
