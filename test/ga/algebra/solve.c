/* solve.c: tests linear systems, inverses and eigenvalues, by ScaLAPACK and LAPACK below GA. The right-hand sides are
 * computed from known solutions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

enum { N = 24, SIDES = 3 };
static const double tolerance = 1e-8;

/* Symmetric and far from singular. */
static struct grid make_matrix(void) {
    struct grid a = grid_new(C_DBL, 2, (int[]){N, N});
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a.at[i * N + j] = (i == j ? 3. * N : 0) + (i * j + i + j) % 7;
    return a;
}

/* ScaLAPACK sees right-hand sides and solutions as columns, which are rows here. */
static struct grid make_solution(void) {
    struct grid x = grid_new(C_DBL, 2, (int[]){SIDES, N});
    for (int i = 0; i < N * SIDES; i++)
        x.at[i] = i % 11 - 5;
    return x;
}

static struct grid multiply(const struct grid *a, const struct grid *x) {
    struct grid b = grid_new(C_DBL, 2, (int[]){SIDES, N});
    for (int i = 0; i < N; i++)
        for (int j = 0; j < SIDES; j++)
            for (int k = 0; k < N; k++)
                b.at[j * N + i] += a->at[i * N + k] * x->at[j * N + k];
    return b;
}

enum way { LU, CHOLESKY, EITHER };

static void try_system(enum way way) {
    struct grid a = make_matrix(), x = make_solution(), b = multiply(&a, &x);
    int ga = array_of(&a), gb = array_of(&b);
    if (way == LU)
        GA_Lu_solve('n', ga, gb);
    else if (way == CHOLESKY)
        expect_eq(GA_Llt_solve(ga, gb), 0);
    else
        expect_eq(GA_Solve(ga, gb), 0);
    GA_Sync();
    expect_array_near(gb, &x, tolerance);
    GA_Sync();
    GA_Destroy(ga);
    GA_Destroy(gb);
    grid_free(&a);
    grid_free(&x);
    grid_free(&b);
}

CASE(lu_solve) {
    try_system(LU);
}

CASE(llt_solve) {
    try_system(CHOLESKY);
}

CASE(solve) {
    try_system(EITHER);
}

CASE(inverse) {
    struct grid a = make_matrix(), unit = grid_new(C_DBL, 2, (int[]){N, N});
    int ga = array_of(&a), gi = array_of(&a), product = GA_Duplicate(ga, "product");
    expect_eq(GA_Spd_invert(gi), 0);
    GA_Symmetrize(gi);
    GA_Dgemm('n', 'n', N, N, N, 1, ga, gi, 0, product);
    GA_Sync();
    for (int i = 0; i < N; i++)
        unit.at[i * N + i] = 1;
    expect_array_near(product, &unit, 1e-6);
    GA_Sync();
    GA_Destroy(ga);
    GA_Destroy(gi);
    GA_Destroy(product);
    grid_free(&a);
    grid_free(&unit);
}

/* ---- eigenvalues: on one rank, since Debian's libga lacks PEIGS ---- */

/* Checks each eigenvector: A v = lambda S v. LAPACK's column vectors are rows here. */
static void expect_vectors(const struct grid *a, double scale, int vectors, const double values[]) {
    static double v[N][N];
    int lo[] = {0, 0}, hi[] = {N - 1, N - 1}, ld[] = {N};
    NGA_Get(vectors, lo, hi, v, ld);
    for (int e = 0; e < N; e++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += creal(a->at[i * N + k]) * v[e][k];
            if (!expect_near(sum, values[e] * scale * v[e][i], 1e-6))
                return;
        }
}

static void try_eigen(void (*call)(int a, int s, int v, double *values), double scale) {
    struct grid a = make_matrix(), s = grid_new(C_DBL, 2, (int[]){N, N});
    double values[N], trace = 0, sum = 0;
    for (int i = 0; i < N; i++) {
        s.at[i * N + i] = scale;
        trace += creal(a.at[i * N + i]);
    }
    int ga = array_of(&a), gs = array_of(&s), gv = GA_Duplicate(ga, "vectors");
    call(ga, gs, gv, values);
    GA_Sync();
    for (int i = 0; i < N; i++)
        sum += values[i] * scale;
    expect_near(sum, trace, 1e-6);
    expect_vectors(&a, scale, gv, values);
    GA_Sync();
    GA_Destroy(ga);
    GA_Destroy(gs);
    GA_Destroy(gv);
    grid_free(&a);
    grid_free(&s);
}

static void standard_sequential(int a, int s, int v, double *values) {
    (void)s;
    GA_Diag_std_seq(a, v, values);
}

static void general_sequential(int a, int s, int v, double *values) {
    GA_Diag_seq(a, s, v, values);
}

CASE(eigenvalues_on_one_rank) {
    try_eigen(standard_sequential, 1);
}

CASE(generalised_eigenvalues_on_one_rank) {
    try_eigen(general_sequential, 2);
}
