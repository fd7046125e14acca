/* dft.h: the parts of the program dft.
 *
 *      options -> molecule -> basis -> orbitals (the density matrix's factors) -> arrays (on Global Arrays)
 *              -> build:  per task   grid (points, weights) -> density (Eq. 1) -> potential -> matrix (Eq. 2)
 *              -> verify (a serial build) -> report
 *
 * Lengths are in bohr, energies in hartree. Functions return 0 or an exit code of common.h. Functions marked
 * collective return the same code on all ranks. */
#ifndef HEARTH_DFT_H
#define HEARTH_DFT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/common.h"

enum dft_shape { DFT_SILICA, DFT_CHAIN, DFT_CUBE };
enum { DFT_ELEMENTS = 18 };       /* hydrogen to argon */
enum { DFT_ATOMS_MOST = 1000 };   /* every rank has all orbitals, which take 1 GB then */
enum { DFT_ANGULAR_MOST = 64 };   /* polar angles of a sphere */
enum { DFT_ATOM_FUNCTIONS = 24 }; /* of one atom, at most */
enum { DFT_BINS = 32, DFT_TRIES = 64 };

struct dft_options {
    struct app_manner manner;
    uint64_t atoms, radial, angular, points, rounds;
    int shape;          /* enum dft_shape */
    int element;        /* of a chain or cube: atomic number - 1 */
    const char *file;   /* a molecule from a file, or NULL */
    const char *matrix; /* file to which the result is written, or NULL */
    double distance;    /* of neighbours in a chain or cube */
    double tolerance;   /* of the electron count */
    bool verify, profile;
};

/* ---- the molecule and its functions ---- */

struct dft_atom {
    int number; /* protons */
    double at[3];
    int first, functions; /* of the basis */
    double reach;         /* distance beyond which none of them exceeds DFT_NEGLIGIBLE */
};

struct dft_molecule {
    struct dft_atom *atoms;
    int count, electrons;
};

/* Gaussian functions of one atom with one exponent: one s function, or the three of a p shell. */
struct dft_shell {
    int atom, first, l;
    double exponent, norm;
};

struct dft_basis {
    struct dft_shell *shells;
    int shell_count, functions;
    int *shell_of_atom; /* the first shell of each atom, and one past the last */
};

/* Orthonormal orbitals with occupations: D = sum over k of occupation[k] c[k] c[k]^T. */
struct dft_orbitals {
    double *c; /* [orbital][function] */
    double *occupation;
    int count, functions;
};

/* options.c. Only rank 0 prints. */
int dft_parse(int argc, char **argv, int rank, struct dft_options *o);
const char *dft_shape_name(int shape);

/* elements.c: by the number of protons. */
const char *dft_symbol(int number);
int dft_find_symbol(const char *symbol); /* 0: none */
double dft_radius(int number);           /* Bragg and Slater's */
/* The shells of an atom that hold electrons, by Slater's rules. Returns how many; at most 5. */
struct dft_slater {
    int n, l;
    double zeta, electrons;
};
int dft_slater_shells(int number, struct dft_slater shells[5]);

/* molecule.c: collective */
int dft_molecule_make(const struct dft_options *o, int rank, struct dft_molecule *m);
void dft_molecule_free(struct dft_molecule *m);

/* basis.c. APP_FAILED, without a message, if out of memory; so for the functions below. */
#define DFT_NEGLIGIBLE 1e-11
int dft_basis_make(struct dft_molecule *m, struct dft_basis *b);
void dft_basis_free(struct dft_basis *b);
double dft_overlap(const struct dft_molecule *m, const struct dft_shell *a, int i, const struct dft_shell *b,
                   int j); /* of the i-th function of a with the j-th of b */
/* Functions of one atom at points [3][stride]: values[function][stride]. */
void dft_basis_evaluate(const struct dft_molecule *m, const struct dft_basis *b, int atom, int points,
                        int stride, const double *at, double *values);

/* orbitals.c. APP_BAD_INPUT, with a message, if the atoms are too close together. */
int dft_orbitals_make(const struct dft_molecule *m, const struct dft_basis *b, struct dft_orbitals *o);
void dft_orbitals_free(struct dft_orbitals *o);
double dft_density_element(const struct dft_orbitals *o, int i, int j);

/* ---- quadrature ---- */

struct dft_sphere {
    double radius, weight; /* the weight includes the squared radius and the factor of the angles */
    int angles;            /* polar angles; twice as many azimuthal ones */
    int first;             /* point of the atom */
};

/* The points of one element's atoms, before space is divided among the atoms. */
struct dft_element_grid {
    struct dft_sphere *spheres;
    int points; /* 0: not in the molecule */
};

struct dft_grid {
    const struct dft_molecule *molecule;
    struct dft_element_grid elements[DFT_ELEMENTS];
    double cosine[DFT_ANGULAR_MOST + 1][DFT_ANGULAR_MOST], share[DFT_ANGULAR_MOST + 1][DFT_ANGULAR_MOST];
    double *between; /* distance of two atoms */
    int spheres, batch;
    uint64_t *first_task; /* of each atom, and one past the last */
    uint64_t tasks;
};

/* Points with weights. Points with a negligible weight are omitted. */
struct dft_batch {
    int count, stride;
    double *at, *weight; /* at[3][stride] */
    double *scratch;     /* of the atoms' distances */
};

int dft_grid_make(const struct dft_options *o, const struct dft_molecule *m, struct dft_grid *g);
void dft_grid_free(struct dft_grid *g);
int dft_batch_open(const struct dft_grid *g, struct dft_batch *b);
void dft_batch_close(struct dft_batch *b);
void dft_grid_batch(const struct dft_grid *g, uint64_t task, struct dft_batch *b);

/* becke.c: the share of an atom in a point, given the point's distance to each atom */
double dft_share(const struct dft_grid *g, int atom, const double *distance);

/* functional.c: exchange and correlation of the local density */
struct dft_energy {
    double exchange, correlation; /* per electron */
    double potential;
};
struct dft_energy dft_functional(double density);

/* ---- the parallel build ---- */

enum dft_call { DFT_GET, DFT_ACC, DFT_COUNTER, DFT_CALLS };

/* What this rank did in one round. */
struct dft_times {
    double call[DFT_CALLS], compute, wait, total; /* seconds; wait: for the other ranks, at the end */
};

struct dft_traffic {
    uint64_t calls[DFT_CALLS], remote[DFT_CALLS], bytes[DFT_CALLS];
    uint64_t bins[DFT_CALLS][DFT_BINS]; /* bin k: 2^(k-1) to 2^k - 1 bytes, as the paper counts */
};

/* arrays.c: the density matrix, the result and the counter, each atom's rows on one rank. */
struct dft_arrays {
    const struct dft_molecule *molecule;
    int density, matrix, counter;
    int rank, ranks;
    struct dft_times times; /* of the calls below */
    struct dft_traffic traffic;
};
int dft_arrays_open(struct dft_arrays *a, const struct dft_molecule *m, int functions); /* collective */
void dft_arrays_fill(struct dft_arrays *a, const struct dft_orbitals *o);               /* collective */
void dft_arrays_clear(struct dft_arrays *a);                                            /* collective */
void dft_arrays_close(struct dft_arrays *a);                                            /* collective */
void dft_get(struct dft_arrays *a, int row, int column, double *patch);                 /* of two atoms */
void dft_acc(struct dft_arrays *a, int row, int column, double *patch, double factor);
uint64_t dft_draw(struct dft_arrays *a);
/* Gathers the whole result on rank 0, in memory that the caller frees; NULL on the others. Collective. */
int dft_arrays_gather(const struct dft_arrays *a, int functions, double **whole);

/* kernel.c: the functions that are not negligible in a batch, and the two equations on patches of them. */
struct dft_kernel {
    struct dft_batch batch;
    double *values; /* [function][stride], of the atoms in `near` */
    double *density, *factor, *sum;
    int *near, near_count;
    int *place; /* in values, of each atom in `near` */
    double patch[DFT_ATOM_FUNCTIONS * DFT_ATOM_FUNCTIONS];
};
int dft_kernel_open(struct dft_kernel *k, const struct dft_grid *g, const struct dft_basis *b);
void dft_kernel_close(struct dft_kernel *k);
void dft_kernel_begin(struct dft_kernel *k, const struct dft_grid *g, const struct dft_basis *b,
                      uint64_t task);
void dft_kernel_density(struct dft_kernel *k, const struct dft_molecule *m, int row, int column);
void dft_kernel_matrix(struct dft_kernel *k, const struct dft_molecule *m, int row, int column);

/* Sums over all points: of this rank, and after dft_build of all. */
struct dft_sums {
    double electrons, exchange, correlation;
    double potential; /* density times potential: the trace of D F, computed independently */
    double points;
};
void dft_kernel_potential(struct dft_kernel *k, struct dft_sums *sums);

struct dft_result {
    struct dft_sums sums;
    double trace, norm;         /* of D F; of F */
    double seconds[DFT_TRIES];  /* of each round, until the last rank is done */
    struct dft_times times;     /* of this rank, all rounds */
    struct dft_traffic traffic; /* of this rank, all rounds */
    uint64_t tasks;             /* done by this rank, all rounds */
    double difference, largest; /* largest difference from the serial build; largest element of that */
};

/* build.c: collective */
int dft_build(const struct dft_options *o, const struct dft_grid *g, const struct dft_basis *b,
              struct dft_arrays *a, struct dft_result *r);

/* verify.c: collective. dft_check makes the checks that always apply. */
int dft_check(const struct dft_options *o, const struct dft_molecule *m, const struct dft_result *r,
              int rank);
int dft_verify(const struct dft_grid *g, const struct dft_basis *b, const struct dft_orbitals *orbitals,
               const double *whole, int rank, struct dft_result *r);

/* report.c: collective; json is NULL on all ranks but 0 */
void dft_report(const struct dft_options *o, const struct dft_molecule *m, const struct dft_basis *b,
                const struct dft_grid *g, const struct dft_arrays *a, const struct dft_result *r, FILE *json);
/* The result, one row per line. */
void dft_write_matrix(const double *whole, int functions, FILE *file);

#endif
