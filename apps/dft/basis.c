/* basis.c: the functions chi of Eqs. 1 and 2: normalised Gaussians around the atoms, s functions and p shells.
 *
 * An atom's exponents are a geometric series ("even-tempered") from those of its outermost electrons to those
 * of its innermost. Their number depends only on the atom's row in the periodic table:
 *
 *      H, He       5 s, 1 p     8 functions
 *      Li to Ne    8 s, 4 p    20
 *      Na to Ar    9 s, 4 p    21
 *
 *      s:  (2a/pi)^(3/4) exp(-a r^2)      p:  2 sqrt(a) (2a/pi)^(3/4) x exp(-a r^2), and so for y and z */
#include "dft/dft.h"

#include <math.h>
#include <stdlib.h>

static int row_of(int number) {
    return number <= 2 ? 0 : number <= 10 ? 1 : 2;
}

static const struct {
    int s, p;
    double softest; /* exponent divided by the squared Slater exponent of the outermost shell */
} rows[3] = {{5, 1, 0.10}, {8, 4, 0.07}, {9, 4, 0.05}};

/* The same for the hardest, of the innermost shell. */
static const double hardest_s = 20, hardest_p = 10;

static double norm_of(int l, double exponent) {
    double s = pow(2 * exponent / M_PI, 0.75);
    return l ? 2 * sqrt(exponent) * s : s;
}

static void add_shell(struct dft_basis *b, int atom, int l, double exponent) {
    b->shells[b->shell_count++] = (struct dft_shell){atom, b->functions, l, exponent, norm_of(l, exponent)};
    b->functions += 2 * l + 1;
}

static void add_series(struct dft_basis *b, int atom, int l, int count, double softest, double hardest) {
    for (int i = 0; i < count; i++)
        add_shell(b, atom, l, count == 1 ? softest : softest * pow(hardest / softest, i / (count - 1.0)));
}

static double softest_of(int number, double *hard_s, double *hard_p) {
    struct dft_slater slater[5];
    int count = dft_slater_shells(number, slater), row = row_of(number);
    double outer = slater[count - 1].zeta, inner = slater[0].zeta, p = outer;
    for (int i = count - 1; i >= 0; i--)
        p = slater[i].l ? slater[i].zeta : p;
    *hard_s = hardest_s * inner * inner;
    *hard_p = hardest_p * p * p;
    return rows[row].softest * outer * outer;
}

/* The distance at which a p function of this exponent becomes negligible. For the softest exponent of an atom, that is
 * the reach of all its functions. */
static double reach_of(double exponent) {
    double norm = norm_of(1, exponent), r = 1 / sqrt(exponent);
    while (norm * fmax(r, 1) * exp(-exponent * r * r) > DFT_NEGLIGIBLE)
        r *= 1.02;
    return r;
}

static void add_atom(struct dft_basis *b, struct dft_atom *atom, int index) {
    double hard_s, hard_p, soft = softest_of(atom->number, &hard_s, &hard_p);
    int row = row_of(atom->number);
    b->shell_of_atom[index] = b->shell_count;
    atom->first = b->functions;
    add_series(b, index, 0, rows[row].s, soft, hard_s);
    add_series(b, index, 1, rows[row].p, row ? soft : 4 * soft, hard_p);
    atom->functions = b->functions - atom->first;
    atom->reach = reach_of(soft);
}

int dft_basis_make(struct dft_molecule *m, struct dft_basis *b) {
    *b = (struct dft_basis){0};
    b->shells = malloc((size_t)m->count * 13 * sizeof *b->shells);
    b->shell_of_atom = malloc(((size_t)m->count + 1) * sizeof *b->shell_of_atom);
    if (!b->shells || !b->shell_of_atom)
        return APP_FAILED;
    for (int i = 0; i < m->count; i++)
        add_atom(b, &m->atoms[i], i);
    b->shell_of_atom[m->count] = b->shell_count;
    return APP_OK;
}

void dft_basis_free(struct dft_basis *b) {
    free(b->shells);
    free(b->shell_of_atom);
}

/* The product of two Gaussians is a Gaussian around a point P between them. */
double dft_overlap(const struct dft_molecule *m, const struct dft_shell *a, int i, const struct dft_shell *b,
                   int j) {
    const double *u = m->atoms[a->atom].at, *v = m->atoms[b->atom].at;
    double p = a->exponent + b->exponent, squared = 0;
    for (int k = 0; k < 3; k++)
        squared += (u[k] - v[k]) * (u[k] - v[k]);
    double s = a->norm * b->norm * pow(M_PI / p, 1.5) * exp(-a->exponent * b->exponent / p * squared);
    double from_a = b->exponent / p * (v[i] - u[i]),
           from_b = a->exponent / p * (u[j] - v[j]); /* P - A, P - B */
    if (a->l && b->l)
        return s * (from_a * from_b + (i == j ? 0.5 / p : 0));
    return a->l ? s * from_a : b->l ? s * from_b : s;
}

static void evaluate_shell(const struct dft_shell *s, const double *centre, int points, int stride,
                           const double *at, double *values) {
    for (int q = 0; q < points; q++) {
        double x = at[q] - centre[0], y = at[stride + q] - centre[1], z = at[2 * stride + q] - centre[2];
        double radial = s->norm * exp(-s->exponent * (x * x + y * y + z * z));
        values[q] = s->l ? radial * x : radial;
        if (s->l) {
            values[stride + q] = radial * y;
            values[2 * stride + q] = radial * z;
        }
    }
}

void dft_basis_evaluate(const struct dft_molecule *m, const struct dft_basis *b, int atom, int points,
                        int stride, const double *at, double *values) {
    const struct dft_atom *a = &m->atoms[atom];
    for (int i = b->shell_of_atom[atom]; i < b->shell_of_atom[atom + 1]; i++) {
        const struct dft_shell *s = &b->shells[i];
        evaluate_shell(s, a->at, points, stride, at, values + (size_t)(s->first - a->first) * (size_t)stride);
    }
}
