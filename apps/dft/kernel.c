/* kernel.c: Eqs. 1 and 2 in a batch of points, by patches of two atoms.
 *
 *      values    [function][point], chi of Eq. 1, for the atoms that reach any point of the batch (`near`)
 *      density   [point], rho
 *      factor    [point], weight times potential
 *
 * Points are contiguous in memory, so that the compiler can vectorise over them. Four functions are processed
 * together, so that a loaded value is used four times. Both matrices are symmetric: for two atoms only the
 * patch with the later one's rows is fetched and updated, and counts twice. */
#include "dft/dft.h"

#include <stdlib.h>
#include <string.h>

int dft_kernel_open(struct dft_kernel *k, const struct dft_grid *g, const struct dft_basis *b) {
    size_t stride = (size_t)g->batch, atoms = (size_t)g->molecule->count;
    *k = (struct dft_kernel){0};
    int code = dft_batch_open(g, &k->batch);
    k->values = malloc(stride * (size_t)b->functions * sizeof *k->values);
    k->density = malloc(stride * sizeof *k->density);
    k->factor = malloc(stride * sizeof *k->factor);
    k->sum = malloc(stride * sizeof *k->sum);
    k->near = malloc(atoms * sizeof *k->near);
    k->place = malloc(atoms * sizeof *k->place);
    bool there = !code && k->values && k->density && k->factor && k->sum && k->near && k->place;
    return there ? APP_OK : APP_FAILED;
}

void dft_kernel_close(struct dft_kernel *k) {
    dft_batch_close(&k->batch);
    free(k->values);
    free(k->density);
    free(k->factor);
    free(k->sum);
    free(k->near);
    free(k->place);
}

static bool reaches(const struct dft_atom *a, const struct dft_batch *b) {
    for (int q = 0; q < b->count; q++) {
        double x = b->at[q] - a->at[0], y = b->at[b->stride + q] - a->at[1],
               z = b->at[2 * b->stride + q] - a->at[2];
        if (x * x + y * y + z * z < a->reach * a->reach)
            return true;
    }
    return false;
}

static double *values_of(const struct dft_kernel *k, int near) {
    return k->values + (size_t)k->place[near] * (size_t)k->batch.stride;
}

void dft_kernel_begin(struct dft_kernel *k, const struct dft_grid *g, const struct dft_basis *b,
                      uint64_t task) {
    const struct dft_molecule *m = g->molecule;
    int functions = 0;
    dft_grid_batch(g, task, &k->batch);
    k->near_count = 0;
    for (int a = 0; a < m->count; a++) {
        if (!reaches(&m->atoms[a], &k->batch))
            continue;
        k->place[k->near_count] = functions;
        k->near[k->near_count] = a;
        dft_basis_evaluate(m, b, a, k->batch.count, k->batch.stride, k->batch.at,
                           values_of(k, k->near_count));
        functions += m->atoms[a].functions;
        k->near_count++;
    }
    memset(k->density, 0, (size_t)k->batch.stride * sizeof *k->density);
}

/* sum[point] = row of D times the values of the column's functions */
static void combine(const double *row, int functions, const double *values, int points, int stride,
                    double *sum) {
    int j = 0;
    memset(sum, 0, (size_t)points * sizeof *sum);
    for (; j + 4 <= functions; j += 4) {
        const double *v = values + (size_t)j * (size_t)stride, *w = v + stride, *x = w + stride,
                     *y = x + stride;
        for (int q = 0; q < points; q++)
            sum[q] += row[j] * v[q] + row[j + 1] * w[q] + row[j + 2] * x[q] + row[j + 3] * y[q];
    }
    for (; j < functions; j++)
        for (int q = 0; q < points; q++)
            sum[q] += row[j] * values[(size_t)j * (size_t)stride + (size_t)q];
}

void dft_kernel_density(struct dft_kernel *k, const struct dft_molecule *m, int row, int column) {
    int rows = m->atoms[k->near[row]].functions, columns = m->atoms[k->near[column]].functions;
    int points = k->batch.count, stride = k->batch.stride;
    const double *left = values_of(k, row), *right = values_of(k, column);
    double twice = row == column ? 1 : 2, *restrict density = k->density, *restrict sum = k->sum;
    for (int i = 0; i < rows; i++) {
        const double *value = left + (size_t)i * (size_t)stride;
        combine(k->patch + (size_t)i * (size_t)columns, columns, right, points, stride, sum);
        for (int q = 0; q < points; q++)
            density[q] += twice * value[q] * sum[q];
    }
}

void dft_kernel_potential(struct dft_kernel *k, struct dft_sums *sums) {
    for (int q = 0; q < k->batch.count; q++) {
        double density = k->density[q], electrons = k->batch.weight[q] * density;
        struct dft_energy e = dft_functional(density);
        k->factor[q] = k->batch.weight[q] * e.potential;
        sums->electrons += electrons;
        sums->exchange += electrons * e.exchange;
        sums->correlation += electrons * e.correlation;
        sums->potential += electrons * e.potential;
    }
    sums->points += k->batch.count;
}

/* Computes four elements of a row of the patch. */
static void project(const double *sum, const double *values, int points, int stride, double *element) {
    const double *v = values, *w = v + stride, *x = w + stride, *y = x + stride;
    double a = 0, b = 0, c = 0, d = 0;
    for (int q = 0; q < points; q++) {
        a += sum[q] * v[q];
        b += sum[q] * w[q];
        c += sum[q] * x[q];
        d += sum[q] * y[q];
    }
    element[0] = a, element[1] = b, element[2] = c, element[3] = d;
}

static double project_one(const double *sum, const double *values, int points) {
    double a = 0;
    for (int q = 0; q < points; q++)
        a += sum[q] * values[q];
    return a;
}

void dft_kernel_matrix(struct dft_kernel *k, const struct dft_molecule *m, int row, int column) {
    int rows = m->atoms[k->near[row]].functions, columns = m->atoms[k->near[column]].functions;
    int points = k->batch.count, stride = k->batch.stride;
    const double *left = values_of(k, row), *right = values_of(k, column);
    double *restrict sum = k->sum;
    for (int i = 0; i < rows; i++) {
        const double *value = left + (size_t)i * (size_t)stride;
        double *element = k->patch + (size_t)i * (size_t)columns;
        int j = 0;
        for (int q = 0; q < points; q++)
            sum[q] = value[q] * k->factor[q];
        for (; j + 4 <= columns; j += 4)
            project(sum, right + (size_t)j * (size_t)stride, points, stride, element + j);
        for (; j < columns; j++)
            element[j] = project_one(sum, right + (size_t)j * (size_t)stride, points);
    }
}
