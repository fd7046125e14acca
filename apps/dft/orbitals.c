/* orbitals.c: the density matrix, by its factors. Its electrons are those of the atoms, in Slater's functions
 * r^(n-1) exp(-zeta r), approximated in the basis and orthonormalised:
 *
 *      C       [orbital][function], each orbital on one atom
 *      O       = C S C^T, their overlaps
 *      O       = L L^T (Cholesky), and C := L^-1 C, so that C S C^T = 1
 *      D       = sum over k of n_k c_k c_k^T, with trace(D S) = sum of n_k: the number of electrons, exactly
 *
 * An open shell's electrons are spread evenly over its orbitals, so n_k need not be whole. All ranks compute
 * the same C; D itself exists only in the global array. */
#include "dft/dft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT_POINTS = 400, MOST_SERIES = 9 };

/* In place: the lower triangle becomes L. False if the matrix is not positive. */
static bool cholesky(double *a, int n) {
    for (int j = 0; j < n; j++) {
        double *row = a + (size_t)j * (size_t)n;
        for (int k = 0; k < j; k++)
            row[j] -= row[k] * row[k];
        if (!(row[j] > 1e-12))
            return false;
        row[j] = sqrt(row[j]);
        for (int i = j + 1; i < n; i++) {
            double *other = a + (size_t)i * (size_t)n;
            for (int k = 0; k < j; k++)
                other[j] -= other[k] * row[k];
            other[j] /= row[j];
        }
    }
    return true;
}

/* x := (L L^T)^-1 x */
static void solve(const double *a, int n, double *x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* The overlap of a Gaussian shell and a Slater function around the same atom, except for a common factor: by
 * the trapezoid rule in log r, which is accurate to many digits for functions that vanish at both ends. */
static double project(const struct dft_shell *shell, const struct dft_slater *slater) {
    double first = log(1e-7 / slater->zeta), last = log(60 / slater->zeta), sum = 0;
    for (int i = 0; i < FIT_POINTS; i++) {
        double r = exp(first + (last - first) * i / (FIT_POINTS - 1));
        sum += pow(r, slater->n + 2 + slater->l) * exp(-slater->zeta * r - shell->exponent * r * r);
    }
    return sum * shell->norm;
}

/* Finds the shells of the atom with the orbital's l, and their coefficients in the best approximation of the
 * Slater function. */
static int fit(const struct dft_molecule *m, const struct dft_basis *b, int atom,
               const struct dft_slater *slater, const struct dft_shell *series[MOST_SERIES], double *weight) {
    double overlap[MOST_SERIES * MOST_SERIES];
    int n = 0;
    for (int i = b->shell_of_atom[atom]; i < b->shell_of_atom[atom + 1]; i++)
        if (b->shells[i].l == slater->l)
            series[n++] = &b->shells[i];
    for (int i = 0; i < n; i++) {
        weight[i] = project(series[i], slater);
        for (int j = 0; j < n; j++)
            overlap[i * n + j] = dft_overlap(m, series[i], 0, series[j], 0);
    }
    cholesky(overlap, n); /* of a geometric series: always positive */
    solve(overlap, n, weight);
    return n;
}

static void normalise(const struct dft_molecule *m, const struct dft_shell *const *series, int n,
                      double *weight) {
    double squared = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            squared += weight[i] * weight[j] * dft_overlap(m, series[i], 0, series[j], 0);
    for (int i = 0; i < n; i++)
        weight[i] /= sqrt(squared);
}

static void add_orbitals(const struct dft_molecule *m, const struct dft_basis *b, int atom,
                         const struct dft_slater *slater, struct dft_orbitals *o, int *atom_of) {
    const struct dft_shell *series[MOST_SERIES];
    double weight[MOST_SERIES];
    int n = fit(m, b, atom, slater, series, weight), each = 2 * slater->l + 1;
    normalise(m, series, n, weight);
    for (int k = 0; k < each; k++, o->count++) {
        double *c = o->c + (size_t)o->count * (size_t)o->functions;
        for (int i = 0; i < n; i++)
            c[series[i]->first + k] = weight[i];
        o->occupation[o->count] = slater->electrons / each;
        atom_of[o->count] = atom;
    }
}

/* Of two orbitals that are still on one atom each. */
static double overlap_of(const struct dft_molecule *m, const struct dft_basis *b, const double *c, int atom_c,
                         const double *d, int atom_d) {
    double sum = 0;
    for (int s = b->shell_of_atom[atom_c]; s < b->shell_of_atom[atom_c + 1]; s++)
        for (int t = b->shell_of_atom[atom_d]; t < b->shell_of_atom[atom_d + 1]; t++)
            for (int i = 0; i <= 2 * b->shells[s].l; i++)
                for (int j = 0; j <= 2 * b->shells[t].l; j++) {
                    double product = c[b->shells[s].first + i] * d[b->shells[t].first + j];
                    if (product != 0)
                        sum += product * dft_overlap(m, &b->shells[s], i, &b->shells[t], j);
                }
    return sum;
}

/* C := L^-1 C: subtracts from each orbital its projections on those before it. */
static void apart(struct dft_orbitals *o, const double *l) {
    size_t n = (size_t)o->functions;
    for (int i = 0; i < o->count; i++) {
        double *c = o->c + (size_t)i * n;
        const double *row = l + (size_t)i * (size_t)o->count;
        for (int k = 0; k < i; k++)
            for (size_t f = 0; f < n; f++)
                c[f] -= row[k] * o->c[(size_t)k * n + f];
        for (size_t f = 0; f < n; f++)
            c[f] /= row[i];
    }
}

static int orthonormalise(const struct dft_molecule *m, const struct dft_basis *b, struct dft_orbitals *o,
                          const int *atom_of) {
    size_t n = (size_t)o->count, f = (size_t)o->functions;
    double *overlap = malloc(n * n * sizeof *overlap);
    if (!overlap)
        return APP_FAILED;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            overlap[i * n + j] = overlap_of(m, b, o->c + i * f, atom_of[i], o->c + j * f, atom_of[j]);
    bool positive = cholesky(overlap, o->count);
    if (positive)
        apart(o, overlap);
    free(overlap);
    return positive ? APP_OK
                    : app_reject("the atoms are too close together: their orbitals are linearly dependent");
}

static int count_orbitals(const struct dft_molecule *m) {
    struct dft_slater slater[5];
    int orbitals = 0;
    for (int a = 0; a < m->count; a++)
        for (int i = dft_slater_shells(m->atoms[a].number, slater) - 1; i >= 0; i--)
            orbitals += 2 * slater[i].l + 1;
    return orbitals;
}

static void add_atoms(const struct dft_molecule *m, const struct dft_basis *b, struct dft_orbitals *o,
                      int *atom_of) {
    struct dft_slater slater[5];
    for (int a = 0; a < m->count; a++) {
        int count = dft_slater_shells(m->atoms[a].number, slater);
        for (int i = 0; i < count; i++)
            add_orbitals(m, b, a, &slater[i], o, atom_of);
    }
}

int dft_orbitals_make(const struct dft_molecule *m, const struct dft_basis *b, struct dft_orbitals *o) {
    size_t orbitals = (size_t)count_orbitals(m);
    int code = APP_FAILED;
    *o = (struct dft_orbitals){.functions = b->functions};
    o->c = calloc(orbitals * (size_t)b->functions, sizeof *o->c);
    o->occupation = malloc(orbitals * sizeof *o->occupation);
    int *atom_of = malloc(orbitals * sizeof *atom_of);
    if (o->c && o->occupation && atom_of) {
        add_atoms(m, b, o, atom_of);
        code = orthonormalise(m, b, o, atom_of);
    }
    free(atom_of);
    return code;
}

void dft_orbitals_free(struct dft_orbitals *o) {
    free(o->c);
    free(o->occupation);
}

double dft_density_element(const struct dft_orbitals *o, int i, int j) {
    double sum = 0;
    for (int k = 0; k < o->count; k++) {
        const double *c = o->c + (size_t)k * (size_t)o->functions;
        sum += o->occupation[k] * c[i] * c[j];
    }
    return sum;
}
