/* elements.c: hydrogen to argon: names, radii, and the electron shells by Slater's rules (1930): for an
 * electron of the n-th shell, the nuclear charge is reduced by 0.35 for each other electron of its shell (0.30
 * in the first), 0.85 for each of the next lower shell and 1 for each further below. */
#include "dft/dft.h"

#include <string.h>
#include <strings.h>

static const char *const symbols[DFT_ELEMENTS] = {"H",  "He", "Li", "Be", "B",  "C", "N", "O",  "F",
                                                  "Ne", "Na", "Mg", "Al", "Si", "P", "S", "Cl", "Ar"};

/* in bohr; for He, Ne and Ar, which Slater does not give, extrapolated */
static const double radii[DFT_ELEMENTS] = {0.66, 0.66, 2.74, 1.98, 1.61, 1.32, 1.23, 1.13, 0.94,
                                           0.85, 3.40, 2.83, 2.36, 2.08, 1.89, 1.89, 1.89, 1.80};

const char *dft_symbol(int number) {
    return symbols[number - 1];
}

int dft_find_symbol(const char *symbol) {
    for (int i = 0; i < DFT_ELEMENTS; i++)
        if (!strcasecmp(symbols[i], symbol))
            return i + 1;
    return 0;
}

double dft_radius(int number) {
    return radii[number - 1];
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static double screened(int number, int n, int inner, int below, int own) {
    return (number - (n == 1 ? 0.30 : 0.35) * (own - 1) - 0.85 * below - inner) / n;
}

int dft_slater_shells(int number, struct dft_slater shells[5]) {
    int left = number, inner = 0, below = 0, count = 0;
    for (int n = 1; left > 0; n++) {
        int own = least(left, n == 1 ? 2 : 8), s = least(own, 2);
        double zeta = screened(number, n, inner, below, own);
        shells[count++] = (struct dft_slater){n, 0, zeta, s};
        if (own > s)
            shells[count++] = (struct dft_slater){n, 1, zeta, own - s};
        left -= own;
        inner += below;
        below = own;
    }
    return count;
}
