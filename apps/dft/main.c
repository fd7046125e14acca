/* main.c: dft, the kernel with which the paper on ARMCI with a helper thread evaluates its choices (its Sec.
 * 5.1): the matrix of the exchange-correlation potential of a molecule, from its density matrix, both
 * distributed over the ranks as global arrays.
 *
 *      Eq. 1   rho(r_q) = sum over mu, nu of D_mu,nu chi_mu(r_q) chi_nu(r_q)
 *      Eq. 2   F_la,rho = sum over q of w_q chi_la(r_q) V_xc[rho(r_q)] chi_rho(r_q)
 *
 * The program uses Global Arrays only; linking decides which ARMCI is below. Every rank takes the same
 * decisions: an error on one rank is agreed upon before the next collective step. */
#include "dft/dft.h"

#include <ga.h>
#include <macdecls.h>
#include <mpi.h>
#include <stdlib.h>

/* The part that does not depend on the ranks. */
struct problem {
    struct dft_molecule molecule;
    struct dft_basis basis;
    struct dft_orbitals orbitals;
    struct dft_grid grid;
};

static int prepare(const struct dft_options *o, int rank, struct problem *p) {
    int code = dft_molecule_make(o, rank, &p->molecule);
    if (code)
        return code;
    code = dft_basis_make(&p->molecule, &p->basis);
    if (!code)
        code = dft_grid_make(o, &p->molecule, &p->grid);
    if (!code)
        code = dft_orbitals_make(&p->molecule, &p->basis, &p->orbitals);
    /* bad input is the same on all ranks, and rank 0 has reported it */
    return app_agree(code,
                     code == APP_BAD_INPUT ? NULL : "no memory for the molecule's functions and points");
}

static void forget(struct problem *p) {
    dft_molecule_free(&p->molecule);
    dft_basis_free(&p->basis);
    dft_orbitals_free(&p->orbitals);
    dft_grid_free(&p->grid);
}

struct files {
    FILE *json, *matrix; /* NULL: none, or not rank 0 */
};

static int open_files(const struct dft_options *o, int rank, struct files *f) {
    int code = app_file_open(o->manner.json, rank, &f->json);
    if (!code)
        code = app_file_open(o->matrix, rank, &f->matrix);
    return app_agree(code, NULL);
}

static int close_files(const struct dft_options *o, struct files *f, int code) {
    int json = app_file_close(o->manner.json, f->json), matrix = app_file_close(o->matrix, f->matrix);
    return app_agree(code ? code : json ? json : matrix, NULL);
}

/* Gathers the whole matrix, if it is needed. */
static int look_at_whole(const struct dft_options *o, const struct problem *p, const struct dft_arrays *a,
                         struct dft_result *r, FILE *file) {
    double *whole;
    if (!o->verify && !o->matrix)
        return APP_OK;
    int code = dft_arrays_gather(a, p->basis.functions, &whole);
    if (!code && file)
        dft_write_matrix(whole, p->basis.functions, file);
    if (!code && o->verify)
        code = dft_verify(&p->grid, &p->basis, &p->orbitals, whole, a->rank, r);
    free(whole);
    return code;
}

static int build_and_report(const struct dft_options *o, const struct problem *p, struct dft_arrays *a,
                            struct files *f) {
    struct dft_result result = {0};
    dft_arrays_fill(a, &p->orbitals);
    int code = dft_build(o, &p->grid, &p->basis, a, &result);
    if (code)
        return code;
    code = dft_check(o, &p->molecule, &result, a->rank);
    int wrong = look_at_whole(o, p, a, &result, f->matrix);
    /* for wrong results too: the report shows the error */
    dft_report(o, &p->molecule, &p->basis, &p->grid, a, &result, f->json);
    return code ? code : wrong;
}

/* Global Arrays takes some of its memory from MA, and more for longer rows of an array. */
static int with_global_arrays(const struct dft_options *o, const struct problem *p, struct files *f) {
    struct dft_arrays arrays;
    GA_Initialize();
    Integer room = 1000000 + 64 * (Integer)p->basis.functions;
    int code = app_agree(MA_init(C_DBL, room, room) ? APP_OK : APP_FAILED, "Global Arrays: MA_init failed");
    if (!code) {
        code = dft_arrays_open(&arrays, &p->molecule, p->basis.functions);
        if (!code)
            code = build_and_report(o, p, &arrays, f);
        dft_arrays_close(&arrays);
    }
    GA_Terminate();
    return code;
}

static int run(int argc, char **argv) {
    int rank;
    struct dft_options options;
    struct problem problem = {0};
    struct files files = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = dft_parse(argc, argv, rank, &options);
    if (code || options.manner.help)
        return code;
    code = prepare(&options, rank, &problem);
    if (!code) {
        code = open_files(&options, rank, &files);
        if (!code)
            code = with_global_arrays(&options, &problem, &files);
        code = close_files(&options, &files, code);
    }
    forget(&problem);
    return code;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = app_flush_stdout(run(argc, argv));
    MPI_Finalize();
    return code;
}
