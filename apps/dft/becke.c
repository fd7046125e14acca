/* becke.c: divides space among the atoms, so that each atom's points integrate its own part (Becke 1988).
 *
 * For two atoms, mu = (distance to the first - distance to the second) / their distance, from -1 on the side of
 * the first to 1 on that of the second. A cell function falls smoothly from 1 to 0 in between. An atom's share
 * is the product of its cell functions against all others, divided by the sum of these products.
 *
 * Becke also moves the border towards the smaller of two atoms. This is omitted, because for silica it makes
 * the integral of the density worse (2e-5 of 30 electrons, 1e-6 without). The cell function of Stratmann and
 * others (1996) is 1 or 0 for more points and therefore faster. It is not used, because it needs more spheres
 * (with 50 and 20 polar angles its error is 6e-6, Becke's is 3e-7). */
#include "dft/dft.h"

#include <math.h>

/* Beyond this the function is 1 or 0 to 13 digits. It is set to exactly 1 or 0 there, so that most atoms have no share in
 * a point, and most products end early. */
static const double border = 0.9;

static double cell(double mu) {
    if (mu > border)
        return 0;
    if (mu < -border)
        return 1;
    for (int i = 0; i < 3; i++)
        mu = 1.5 * mu - 0.5 * mu * mu * mu;
    return 0.5 - 0.5 * mu;
}

static double between(const struct dft_grid *g, int atom, int other, const double *distance) {
    size_t pair = (size_t)atom * (size_t)g->molecule->count + (size_t)other;
    return cell((distance[atom] - distance[other]) / g->between[pair]);
}

/* Compares with the nearest atom first, which decides most cases. */
static double product(const struct dft_grid *g, int atom, int nearest, const double *distance) {
    double p = atom == nearest ? 1 : between(g, atom, nearest, distance);
    for (int k = 0; k < g->molecule->count && p > 0; k++)
        if (k != atom && k != nearest)
            p *= between(g, atom, k, distance);
    return p;
}

double dft_share(const struct dft_grid *g, int atom, const double *distance) {
    int nearest = 0, atoms = g->molecule->count;
    for (int k = 1; k < atoms; k++)
        nearest = distance[k] < distance[nearest] ? k : nearest;
    double own = product(g, atom, nearest, distance), all = own;
    for (int k = 0; k < atoms && own > 0; k++)
        if (k != atom)
            all += product(g, k, nearest, distance);
    return own > 0 ? own / all : 0;
}
