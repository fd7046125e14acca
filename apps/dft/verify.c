/* verify.c: verifies the result.
 *
 * Always: the density integrates to the number of electrons, and the trace of D F equals the sum over the
 * points. It differs if any patch was lost, added twice, or added at a wrong place.
 *
 * With --verify: rank 0 builds the matrix again serially. It shares only the points with the parallel build: no
 * patches, no global arrays, no function omitted as negligible, and the density not by Eq. 1 but from the
 * orbitals,
 *
 *      rho = sum over k of n_k psi_k^2,    psi_k = sum over i of c_ki chi_i */
#include "dft/dft.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double right_trace = 1e-9, right_matrix = 1e-9; /* relative to the compared values */

int dft_check(const struct dft_options *o, const struct dft_molecule *m, const struct dft_result *r,
              int rank) {
    double off = fabs(r->sums.electrons - m->electrons), apart = fabs(r->trace - r->sums.potential);
    bool counted = off <= o->tolerance * m->electrons,
         traced = apart <= right_trace * fabs(r->sums.potential);
    if (rank == 0 && !counted) /* a NaN fails too */
        app_complain(
            "the density integrates to %.8f, not to %d electrons: the relative error is %.1e, more than "
            "%.1e (--tolerance); "
            "use a finer grid (--radial, --angular)",
            r->sums.electrons, m->electrons, off / m->electrons, o->tolerance);
    if (rank == 0 && !traced)
        app_complain("the matrix is wrong: the trace of D F is %.12g, the sum over the points %.12g",
                     r->trace, r->sums.potential);
    return counted && traced ? APP_OK : APP_FAILED;
}

/* ---- the serial build ---- */

struct serial {
    const struct dft_grid *grid;
    const struct dft_basis *basis;
    const struct dft_orbitals *orbitals;
    struct dft_batch batch;
    double *values; /* [function][stride] */
    double *density, *factor, *psi, *matrix;
};

static int serial_open(struct serial *s) {
    size_t stride = (size_t)s->grid->batch, functions = (size_t)s->basis->functions;
    int code = dft_batch_open(s->grid, &s->batch);
    s->values = malloc(functions * stride * sizeof *s->values);
    s->density = malloc(stride * sizeof *s->density);
    s->factor = malloc(stride * sizeof *s->factor);
    s->psi = malloc(stride * sizeof *s->psi);
    s->matrix = calloc(functions * functions, sizeof *s->matrix);
    bool there = !code && s->values && s->density && s->factor && s->psi && s->matrix;
    return there ? APP_OK : APP_FAILED;
}

static void serial_close(struct serial *s) {
    dft_batch_close(&s->batch);
    free(s->values);
    free(s->density);
    free(s->factor);
    free(s->psi);
    free(s->matrix);
}

static void evaluate(struct serial *s) {
    const struct dft_molecule *m = s->grid->molecule;
    for (int a = 0; a < m->count; a++)
        dft_basis_evaluate(m, s->basis, a, s->batch.count, s->batch.stride, s->batch.at,
                           s->values + (size_t)m->atoms[a].first * (size_t)s->batch.stride);
}

static void add_orbital(struct serial *s, int orbital) {
    const double *c = s->orbitals->c + (size_t)orbital * (size_t)s->basis->functions;
    memset(s->psi, 0, (size_t)s->batch.stride * sizeof *s->psi);
    for (int i = 0; i < s->basis->functions; i++) {
        const double *value = s->values + (size_t)i * (size_t)s->batch.stride;
        for (int q = 0; q < s->batch.count; q++)
            s->psi[q] += c[i] * value[q];
    }
    for (int q = 0; q < s->batch.count; q++)
        s->density[q] += s->orbitals->occupation[orbital] * s->psi[q] * s->psi[q];
}

static void find_potential(struct serial *s) {
    for (int q = 0; q < s->batch.count; q++)
        s->factor[q] = s->batch.weight[q] * dft_functional(s->density[q]).potential;
}

static void add_row(struct serial *s, int i) {
    const double *left = s->values + (size_t)i * (size_t)s->batch.stride;
    for (int q = 0; q < s->batch.count; q++)
        s->psi[q] = left[q] * s->factor[q];
    for (int j = 0; j <= i; j++) {
        const double *right = s->values + (size_t)j * (size_t)s->batch.stride;
        double sum = 0;
        for (int q = 0; q < s->batch.count; q++)
            sum += s->psi[q] * right[q];
        s->matrix[(size_t)i * (size_t)s->basis->functions + (size_t)j] += sum;
    }
}

static void build(struct serial *s) {
    for (uint64_t task = 0; task < s->grid->tasks; task++) {
        dft_grid_batch(s->grid, task, &s->batch);
        evaluate(s);
        memset(s->density, 0, (size_t)s->batch.stride * sizeof *s->density);
        for (int k = 0; k < s->orbitals->count; k++)
            add_orbital(s, k);
        find_potential(s);
        for (int i = 0; i < s->basis->functions; i++)
            add_row(s, i);
        if (app_progress_due())
            app_progress("verifying, %" PRIu64 " of %" PRIu64 " tasks", task + 1, s->grid->tasks);
    }
}

static void compare(const struct serial *s, const double *whole, struct dft_result *r) {
    size_t n = (size_t)s->basis->functions;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double right = s->matrix[i >= j ? i * n + j : j * n + i], off = fabs(whole[i * n + j] - right);
            r->largest = fmax(r->largest, fabs(right));
            /* fmax would drop a NaN */
            r->difference = off > r->difference || isnan(off) ? off : r->difference;
        }
}

static int build_and_compare(struct serial *s, const double *whole, struct dft_result *r) {
    int code = serial_open(s);
    if (code) {
        app_complain("--verify: no memory for a serial build");
    } else {
        build(s);
        compare(s, whole, r);
        if (!(r->difference <= right_matrix * r->largest)) {
            app_complain("the matrix is wrong: it differs from a serial build by up to %.2e, its largest "
                         "element is %.2e",
                         r->difference, r->largest);
            code = APP_FAILED;
        }
    }
    serial_close(s);
    return code;
}

/* A barrier that leaves the cores to rank 0. */
static void wait_asleep(void) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        usleep(20000);
}

int dft_verify(const struct dft_grid *g, const struct dft_basis *b, const struct dft_orbitals *orbitals,
               const double *whole, int rank, struct dft_result *r) {
    struct serial serial = {.grid = g, .basis = b, .orbitals = orbitals};
    int code = rank ? APP_OK : build_and_compare(&serial, whole, r);
    wait_asleep();
    return app_agree(code, NULL);
}
