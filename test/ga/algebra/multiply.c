/* multiply.c: tests products of matrices and of boxes, in all types of BLAS, transposed and not. */
#include <stdlib.h>

#include "grid.h"
#include "wide.h"

enum { M = 21, N = 17, K = 26 };
static const int types[] = {C_FLOAT, C_DBL, C_SCPL, C_DCPL};

/* The element of op(x) at this row and column; op(x) is x or its transpose. */
static number at(const struct grid *x, bool transposed, int row, int column) {
    return transposed ? x->at[column * x->dims[1] + row] : x->at[row * x->dims[1] + column];
}

static SingleComplex single(number z) {
    return (SingleComplex){(float)creal(z), (float)cimag(z)};
}

static DoubleComplex dual(number z) {
    return (DoubleComplex){creal(z), cimag(z)};
}

static void gemm(int type, char ta, char tb, number alpha, int a, int b, number beta, int c) {
    switch (type) {
    case C_FLOAT:
        GA_Sgemm(ta, tb, M, N, K, (float)creal(alpha), a, b, (float)creal(beta), c);
        break;
    case C_DBL:
        GA_Dgemm(ta, tb, M, N, K, creal(alpha), a, b, creal(beta), c);
        break;
    case C_SCPL:
        GA_Cgemm(ta, tb, M, N, K, single(alpha), a, b, single(beta), c);
        break;
    default:
        GA_Zgemm(ta, tb, M, N, K, dual(alpha), a, b, dual(beta), c);
    }
}

static void gemm64(int type, char ta, char tb, number alpha, int a, int b, number beta, int c) {
    switch (type) {
    case C_FLOAT:
        GA_Sgemm64(ta, tb, M, N, K, (float)creal(alpha), a, b, (float)creal(beta), c);
        break;
    case C_DBL:
        GA_Dgemm64(ta, tb, M, N, K, creal(alpha), a, b, creal(beta), c);
        break;
    case C_SCPL:
        GA_Cgemm64(ta, tb, M, N, K, single(alpha), a, b, single(beta), c);
        break;
    default:
        GA_Zgemm64(ta, tb, M, N, K, dual(alpha), a, b, dual(beta), c);
    }
}

static void try_product(int type, bool ta, bool tb, bool wide, uint64_t *state) {
    struct grid a = grid_new(type, 2, ta ? (int[]){K, M} : (int[]){M, K});
    struct grid b = grid_new(type, 2, tb ? (int[]){N, K} : (int[]){K, N});
    struct grid c = grid_new(type, 2, (int[]){M, N});
    grid_fill(&a, state);
    grid_fill(&b, state);
    grid_fill(&c, state);
    number alpha = draw_number(state, type), beta = draw_number(state, type);
    int x = array_of(&a), y = array_of(&b), z = array_of(&c);
    (wide ? gemm64 : gemm)(type, ta ? 't' : 'n', tb ? 't' : 'n', alpha, x, y, beta, z);
    GA_Sync();
    for (int i = 0; i < M * N; i++) {
        number sum = 0;
        for (int k = 0; k < K; k++)
            sum += at(&a, ta, i / N, k) * at(&b, tb, k, i % N);
        c.at[i] = alpha * sum + beta * c.at[i];
    }
    expect_array(z, &c); /* whole numbers below 2^24: exact */
    GA_Sync();
    GA_Destroy(x);
    GA_Destroy(y);
    GA_Destroy(z);
    grid_free(&a);
    grid_free(&b);
    grid_free(&c);
}

CASE(products_of_matrices) {
    uint64_t state = test_seed;
    for (int t = 0; t < 4; t++)
        for (int way = 0; way < 4; way++)
            try_product(types[t], way & 1, way & 2, (t + way) & 1, &state);
}

static struct grid turned(const struct grid *x) {
    struct grid t = grid_new(x->type, 2, (int[]){x->dims[1], x->dims[0]});
    for (long i = 0; i < x->count; i++)
        t.at[i % x->dims[1] * x->dims[0] + i / x->dims[1]] = x->at[i];
    return t;
}

/* GA_Matmul_patch counts rows and columns as Fortran does, also in C, so it gets all matrices transposed. */
static int array_for(const struct grid *x, bool fortran) {
    struct grid t = turned(x);
    int array = array_of(fortran ? &t : x);
    grid_free(&t);
    return array;
}

static void expect_for(int array, const struct grid *x, bool fortran) {
    struct grid t = turned(x);
    expect_array(array, fortran ? &t : x);
    grid_free(&t);
}

/* A box of c from boxes of a and b of matching shapes, at different places. */
static void try_boxes(int type, int how, uint64_t *state) {
    struct grid a = grid_new(type, 2, (int[]){M, K}), b = grid_new(type, 2, (int[]){K, N});
    struct grid c = grid_new(type, 2, (int[]){M, N});
    grid_fill(&a, state);
    grid_fill(&b, state);
    grid_fill(&c, state);
    int m = draw_between(state, 1, M), n = draw_between(state, 1, N), k = draw_between(state, 1, K);
    struct box like_a = {{0, 0}, {m - 1, k - 1}}, like_b = {{0, 0}, {k - 1, n - 1}},
               like_c = {{0, 0}, {m - 1, n - 1}};
    struct box p = move_box(&a, &like_a, state), q = move_box(&b, &like_b, state),
               r = move_box(&c, &like_c, state);
    number alpha = draw_number(state, type), beta = draw_number(state, type);
    void *al = scalar(type, alpha), *be = scalar(type, beta);
    int x = array_for(&a, how > 1), y = array_for(&b, how > 1), z = array_for(&c, how > 1);
    if (how == 0)
        NGA_Matmul_patch('n', 'n', al, be, x, p.lo, p.hi, y, q.lo, q.hi, z, r.lo, r.hi);
    else if (how == 1)
        NGA_Matmul_patch64('n', 'n', al, be, x, widen(p.lo, 2).at, widen(p.hi, 2).at, y, widen(q.lo, 2).at,
                           widen(q.hi, 2).at, z, widen(r.lo, 2).at, widen(r.hi, 2).at);
    else if (how == 2)
        GA_Matmul_patch('n', 'n', al, be, x, p.lo[0], p.hi[0], p.lo[1], p.hi[1], y, q.lo[0], q.hi[0], q.lo[1],
                        q.hi[1], z, r.lo[0], r.hi[0], r.lo[1], r.hi[1]);
    else
        GA_Matmul_patch64('n', 'n', al, be, x, p.lo[0], p.hi[0], p.lo[1], p.hi[1], y, q.lo[0], q.hi[0],
                          q.lo[1], q.hi[1], z, r.lo[0], r.hi[0], r.lo[1], r.hi[1]);
    GA_Sync();
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            number sum = 0, *to = &c.at[(r.lo[0] + i) * N + r.lo[1] + j];
            for (int l = 0; l < k; l++)
                sum += a.at[(p.lo[0] + i) * K + p.lo[1] + l] * b.at[(q.lo[0] + l) * N + q.lo[1] + j];
            *to = alpha * sum + beta * *to;
        }
    expect_for(z, &c, how > 1);
    GA_Sync();
    GA_Destroy(x);
    GA_Destroy(y);
    GA_Destroy(z);
    grid_free(&a);
    grid_free(&b);
    grid_free(&c);
}

CASE(products_of_boxes) {
    uint64_t state = test_seed;
    for (int t = 0; t < 4; t++)
        for (int how = 0; how < 4; how++)
            try_boxes(types[t], how, &state);
}
