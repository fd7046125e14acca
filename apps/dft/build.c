/* build.c: builds the matrix, by tasks. A task is a batch of points; an idle rank takes the next one from the
 * shared counter:
 *
 *      for each two atoms that reach the batch     ga_get a patch of D, and add to the density (Eq. 1)
 *      the potential at each point
 *      for each two atoms that reach the batch     a patch of F (Eq. 2), and ga_acc it
 *
 * Between two calls a rank always works on a patch and is outside the library for that time, and for longer at
 * the start of a batch. A helper thread serves accesses to its memory meanwhile; without one they wait. */
#include "dft/dft.h"

#include <ga.h>
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <string.h>

#include "base/clock.h"

static void do_task(struct dft_kernel *k, const struct dft_molecule *m, struct dft_arrays *a,
                    struct dft_sums *sums) {
    for (int i = 0; i < k->near_count; i++)
        for (int j = 0; j <= i; j++) {
            dft_get(a, k->near[i], k->near[j], k->patch);
            dft_kernel_density(k, m, i, j);
        }
    dft_kernel_potential(k, sums);
    for (int i = 0; i < k->near_count; i++)
        for (int j = 0; j <= i; j++) {
            dft_kernel_matrix(k, m, i, j);
            /* halved when F is made symmetric */
            dft_acc(a, k->near[i], k->near[j], k->patch, i == j ? 1 : 2);
        }
}

static double in_calls(const struct dft_times *t) {
    return t->call[DFT_GET] + t->call[DFT_ACC] + t->call[DFT_COUNTER];
}

static void do_tasks(const struct dft_grid *g, const struct dft_basis *b, struct dft_arrays *a,
                     struct dft_kernel *k, struct dft_result *r) {
    for (uint64_t task; (task = dft_draw(a)) < g->tasks;) {
        dft_kernel_begin(k, g, b, task);
        do_task(k, g->molecule, a, &r->sums);
        r->tasks++;
        if (a->rank == 0 && app_progress_due())
            app_progress("%" PRIu64 " of %" PRIu64 " tasks", task + 1, g->tasks);
    }
}

/* Returns the time until the last rank was done. */
static double do_round(const struct dft_grid *g, const struct dft_basis *b, struct dft_arrays *a,
                       struct dft_kernel *k, struct dft_result *r) {
    double before = in_calls(&a->times), slowest;
    dft_arrays_clear(a);
    r->sums = (struct dft_sums){0};
    uint64_t began = clock_ns();
    do_tasks(g, b, a, k, r);
    uint64_t done = clock_ns();
    GA_Sync();
    uint64_t ended = clock_ns();
    double total = (double)(ended - began) * 1e-9;
    a->times.total += total;
    a->times.wait += (double)(ended - done) * 1e-9;
    a->times.compute += (double)(done - began) * 1e-9 - (in_calls(&a->times) - before);
    MPI_Allreduce(&total, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Patches were added below the diagonal only, those with a counterpart above it twice. */
static void finish(struct dft_arrays *a, struct dft_result *r) {
    GA_Symmetrize(a->matrix);
    r->trace = GA_Ddot(a->density, a->matrix);
    r->norm = sqrt(GA_Ddot(a->matrix, a->matrix));
    MPI_Allreduce(MPI_IN_PLACE, &r->sums, sizeof r->sums / sizeof(double), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    r->times = a->times;
    r->traffic = a->traffic;
}

int dft_build(const struct dft_options *o, const struct dft_grid *g, const struct dft_basis *b,
              struct dft_arrays *a, struct dft_result *r) {
    struct dft_kernel kernel;
    int code =
        app_agree(dft_kernel_open(&kernel, g, b), "no memory for a batch of points: use a smaller --points");
    if (!code) {
        if (a->rank == 0)
            app_progress_begin(&o->manner);
        for (uint64_t round = 0; round < o->rounds; round++)
            r->seconds[round] = do_round(g, b, a, &kernel, r);
        if (a->rank == 0)
            app_progress_end();
        finish(a, r);
    }
    dft_kernel_close(&kernel);
    return code;
}
