/* grid.c: points and weights for the integrals over space. Each atom is surrounded by spheres of points:
 *
 *      radii      Treutler and Ahlrichs' M4 map (1995) of Gauss-Chebyshev points of the second kind
 *      angles     Gauss-Legendre in the cosine of the polar angle times equal azimuthal steps, twice as
 *                 many; fewer on spheres near the nucleus, where the density is almost spherical
 *      weights    of radius and angle, times the atom's share of the point (becke.c)
 *
 * The points of an atom, sphere after sphere, are cut into batches of equal size; a batch is a task. The number
 * of a task therefore identifies it on any rank, and nothing about it has to be stored or sent. */
#include "dft/dft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- points of one atom ---- */

/* Computes the zeros of the Legendre polynomial of degree n, by Newton's method, and their weights. */
static void gauss_legendre(int n, double *x, double *weight) {
    for (int i = 0; i < n; i++) {
        double z = cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int step = 0; step < 50; step++) {
            double p = 1, before = 0;
            for (int k = 1; k <= n; k++) {
                double next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (z * p - before) / (z * z - 1);
            if (fabs(p / slope) < 1e-15)
                break;
            z -= p / slope;
        }
        x[i] = z;
        weight[i] = 2 / ((1 - z * z) * slope * slope);
    }
}

static int angles_at(double radius, double size, int most) {
    double part = radius / size;
    int angles = part < 0.3 ? most / 3 : part < 0.8 ? 2 * most / 3 : most;
    return angles < 3 ? 3 : angles;
}

static void place_sphere(int i, int count, double scale, struct dft_sphere *s) {
    double angle = M_PI * i / (count + 1), x = cos(angle), up = pow(1 + x, 0.6), far = log(2 / (1 - x));
    double slope = scale / M_LN2 * up * (0.6 / (1 + x) * far + 1 / (1 - x));
    s->radius = scale / M_LN2 * up * far;
    s->weight = M_PI / (count + 1) * sin(angle) * slope * s->radius * s->radius;
}

static int place_element(struct dft_grid *g, int number, int most_angles) {
    struct dft_element_grid *e = &g->elements[number - 1];
    if (e->points)
        return APP_OK;
    e->spheres = calloc((size_t)g->spheres + 1, sizeof *e->spheres);
    if (!e->spheres)
        return APP_FAILED;
    for (int i = 0; i < g->spheres; i++) {
        struct dft_sphere *s = &e->spheres[i];
        place_sphere(i + 1, g->spheres, 1, s);
        s->angles = angles_at(s->radius, dft_radius(number), most_angles);
        s->weight *= M_PI / s->angles; /* an azimuthal step */
        s->first = e->points;
        e->points += 2 * s->angles * s->angles;
    }
    e->spheres[g->spheres].first = e->points;
    return APP_OK;
}

/* ---- the grid of the molecule ---- */

static double apart(const double *a, const double *b) {
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

static void measure(struct dft_grid *g) {
    const struct dft_molecule *m = g->molecule;
    for (int i = 0; i < m->count; i++)
        for (int j = 0; j < m->count; j++)
            g->between[(size_t)i * (size_t)m->count + (size_t)j] = apart(m->atoms[i].at, m->atoms[j].at);
}

static int points_of(const struct dft_grid *g, int atom) {
    return g->elements[g->molecule->atoms[atom].number - 1].points;
}

static void count_tasks(struct dft_grid *g) {
    for (int a = 0; a < g->molecule->count; a++) {
        g->first_task[a] = g->tasks;
        g->tasks += (uint64_t)((points_of(g, a) + g->batch - 1) / g->batch);
    }
    g->first_task[g->molecule->count] = g->tasks;
}

int dft_grid_make(const struct dft_options *o, const struct dft_molecule *m, struct dft_grid *g) {
    size_t atoms = (size_t)m->count;
    int code = APP_OK;
    *g = (struct dft_grid){.molecule = m, .spheres = (int)o->radial, .batch = (int)o->points};
    for (int n = 1; n <= DFT_ANGULAR_MOST; n++)
        gauss_legendre(n, g->cosine[n], g->share[n]);
    for (int a = 0; a < m->count && !code; a++)
        code = place_element(g, m->atoms[a].number, (int)o->angular);
    g->between = malloc(atoms * atoms * sizeof *g->between);
    g->first_task = malloc((atoms + 1) * sizeof *g->first_task);
    if (code || !g->between || !g->first_task)
        return APP_FAILED;
    measure(g);
    count_tasks(g);
    return APP_OK;
}

void dft_grid_free(struct dft_grid *g) {
    for (int i = 0; i < DFT_ELEMENTS; i++)
        free(g->elements[i].spheres);
    free(g->between);
    free(g->first_task);
}

/* ---- a batch ---- */

int dft_batch_open(const struct dft_grid *g, struct dft_batch *b) {
    size_t stride = (size_t)g->batch;
    *b = (struct dft_batch){.stride = g->batch};
    b->at = malloc(3 * stride * sizeof *b->at);
    b->weight = malloc(stride * sizeof *b->weight);
    b->scratch = malloc((size_t)g->molecule->count * sizeof *b->scratch);
    return b->at && b->weight && b->scratch ? APP_OK : APP_FAILED;
}

void dft_batch_close(struct dft_batch *b) {
    free(b->at);
    free(b->weight);
    free(b->scratch);
}

static void place_point(const struct dft_grid *g, const struct dft_atom *atom, const struct dft_sphere *s,
                        int point, double at[3]) {
    int polar = point / (2 * s->angles), around = point % (2 * s->angles);
    double cosine = g->cosine[s->angles][polar], sine = sqrt(1 - cosine * cosine);
    double angle = M_PI / s->angles * (around + 0.5 * (polar % 2));
    at[0] = atom->at[0] + s->radius * sine * cos(angle);
    at[1] = atom->at[1] + s->radius * sine * sin(angle);
    at[2] = atom->at[2] + s->radius * cosine;
}

static double weigh(const struct dft_grid *g, int atom, const struct dft_sphere *s, int point,
                    const double at[3], double *distance) {
    const struct dft_molecule *m = g->molecule;
    for (int k = 0; k < m->count; k++)
        distance[k] = apart(at, m->atoms[k].at);
    return s->weight * g->share[s->angles][point / (2 * s->angles)] * dft_share(g, atom, distance);
}

static void add_point(struct dft_batch *b, const double at[3], double weight) {
    for (int k = 0; k < 3; k++)
        b->at[k * b->stride + b->count] = at[k];
    b->weight[b->count++] = weight;
}

static int atom_of(const struct dft_grid *g, uint64_t task) {
    int low = 0, high = g->molecule->count; /* first_task[low] <= task < first_task[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (g->first_task[middle] <= task)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void dft_grid_batch(const struct dft_grid *g, uint64_t task, struct dft_batch *b) {
    int atom = atom_of(g, task), first = (int)(task - g->first_task[atom]) * g->batch;
    int last = points_of(g, atom) < first + g->batch ? points_of(g, atom) : first + g->batch;
    const struct dft_atom *centre = &g->molecule->atoms[atom];
    const struct dft_sphere *s = g->elements[centre->number - 1].spheres;
    double at[3];
    b->count = 0;
    for (int point = first; point < last; point++) {
        while (point >= s[1].first)
            s++;
        place_point(g, centre, s, point - s->first, at);
        double weight = weigh(g, atom, s, point - s->first, at, b->scratch);
        if (weight > 0)
            add_point(b, at, weight);
    }
}
