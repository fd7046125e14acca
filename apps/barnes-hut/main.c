/* main.c: barnes-hut simulates bodies that attract each other, with an octree that is distributed over the
 * ranks of an MPI program.
 *
 * It is plain MPI-3: each rank reads the nodes of others that it needs by MPI_Get, the same nodes for body
 * after body, so that a caching library shows in the time. For such a library the program sets an info key on
 * its window, which MPI itself ignores, and makes one call when the tree has changed.
 *
 * Every rank takes the same decisions: an error on one rank is agreed upon before the next collective step, so
 * that all exit with the same code and none waits for another. */
#include "bh.h"

#include <stdlib.h>

struct files {
    FILE *json, *picture; /* NULL: none, or not rank 0 */
};

static int open_files(const struct bh_options *o, int rank, struct files *f) {
    int code = app_file_open(o->manner.json, rank, &f->json);
    if (!code)
        code = app_file_open(o->picture, rank, &f->picture);
    return app_agree(code, NULL);
}

static int close_files(const struct bh_options *o, struct files *f, int code) {
    int json = app_file_close(o->manner.json, f->json), picture = app_file_close(o->picture, f->picture);
    return app_agree(code ? code : json ? json : picture, NULL);
}

/* Requesting the library without having it is an error; without a request, the library is used if it is loaded. */
static int choose_cache(struct bh_options *o) {
    int loaded = bh_hearth_is_loaded(), all;
    MPI_Allreduce(&loaded, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (o->cache == BH_CACHE_AUTO)
        o->cache = all ? BH_HEARTH : BH_NONE;
    return app_agree(
        o->cache == BH_HEARTH && !all ? APP_BAD_INPUT : APP_OK,
        "--cache hearth: the library is not loaded: start the ranks with LD_PRELOAD=libhearth-mpi.so "
        "(mpirun -x LD_PRELOAD=... with Open MPI, -genv LD_PRELOAD ... with MPICH)");
}

static int simulate_and_report(const struct bh_options *o, struct files *f) {
    struct bh_bodies bodies = {0};
    struct bh_result result = {0};
    int code = bh_model_make(&bodies, o);
    if (!code)
        code = bh_simulate(o, &bodies, &result);
    if (!code) {
        int wrong = o->verify ? bh_verify(o, &bodies, &result) : APP_OK;
        bh_report(o, &bodies, &result, f->json); /* for wrong results too: the report shows the error */
        code = o->picture ? bh_picture(o, &bodies, f->picture) : APP_OK;
        code = wrong ? wrong : code;
    }
    free(bodies.list);
    return code;
}

static int run(int argc, char **argv) {
    int rank;
    struct bh_options options;
    struct files files = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = bh_parse(argc, argv, rank, &options);
    if (code || options.manner.help)
        return code;
    code = choose_cache(&options);
    if (code)
        return code;
    code = open_files(&options, rank, &files);
    if (!code)
        code = simulate_and_report(&options, &files);
    return close_files(&options, &files, code);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = app_flush_stdout(run(argc, argv));
    MPI_Finalize();
    return code;
}
