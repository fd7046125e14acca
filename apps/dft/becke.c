/* becke.c: how a point of space is divided among the atoms, so that each atom's points integrate what is
 * its own (Becke 1988).
 *
 * Of two atoms, mu = (distance to the one - distance to the other) / their distance says how far a point
 * lies on the side of the one (-1) or the other (1). A cell function falls smoothly from 1 to 0 in
 * between; an atom's share is the product of its cell functions against all others, over the sum of these
 * products.
 *
 * Becke also moves the border towards the smaller of two atoms. For silica that makes the integral of the
 * density worse (2e-5 of 30 electrons where it is 1e-6 without), and it is left out. So is the cell function
 * of Stratmann and others (1996), which is 1 or 0 for more points and so faster, but needs more spheres (with
 * 50 and 20 polar angles it is off by 6e-6 where Becke's is by 3e-7). */
#include "dft/dft.h"

#include <math.h>

/* Beyond this the function is 1 or 0 to 13 digits: taken as such, most atoms have no share in a point at
 * all. */
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

/* First against the nearest atom, which settles most of them. */
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
