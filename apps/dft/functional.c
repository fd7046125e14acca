/* functional.c: exchange and correlation in the local density approximation, for a density without spin
 * polarisation. Exchange is Dirac and Slater's. Correlation is Chachiyo's formula (2016), which is exact at
 * high densities and whose only fitted parameter makes it right at low ones:
 *
 *      e_x = -3/4 (3 rho / pi)^(1/3)          e_c = a ln(1 + b / r_s + b / r_s^2),   4/3 pi r_s^3 rho = 1
 *
 * The potential is d(rho e) / d rho. */
#include "dft/dft.h"

#include <math.h>

struct dft_energy dft_functional(double density) {
    const double a = (M_LN2 - 1) / (2 * M_PI * M_PI), b = 20.4562557;
    if (!(density > 1e-30)) /* r_s would not be finite, and the potential is negligible */
        return (struct dft_energy){0, 0, 0};
    double exchange = -0.75 * cbrt(3 * density / M_PI), rs = cbrt(3 / (4 * M_PI * density));
    double inside = 1 + b / rs + b / (rs * rs), correlation = a * log(inside);
    double slope = -a * (b / (rs * rs) + 2 * b / (rs * rs * rs)) / inside; /* d e_c / d r_s */
    return (struct dft_energy){exchange, correlation, 4.0 / 3 * exchange + correlation - rs / 3 * slope};
}
