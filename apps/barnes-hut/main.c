/* main.c: barnes-hut, bodies that attract each other, in an octree that is spread over the ranks of an MPI
 * program. It is plain MPI-3: each rank reads the nodes of the others that it needs by MPI_Get, the same
 * nodes for body after body. A library that caches gets can be put under it, and then shows in the time;
 * what the program does for it are an info key on its window, which MPI itself ignores, and one call when
 * the tree has changed.
 *
 * Every rank takes the same decisions: an error on one is agreed upon before the next collective step, so
 * that all leave with the same exit code and none waits for the others. */
#include "bh.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bh_complain(const char *format, ...) {
    char line[1024];
    int head = snprintf(line, sizeof line, "barnes-hut: ");
    va_list args;
    va_start(args, format);
    int n = head + vsnprintf(line + head, sizeof line - (size_t)head, format, args);
    va_end(args);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';
    /* one write, so that lines of several ranks do not mix */
    if (write(STDERR_FILENO, line, (size_t)n) < 0)
        return;
}

int bh_agree(int code, const char *complaint) {
    int highest, rank;
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (highest && complaint && rank == 0)
        bh_complain("%s", complaint);
    return highest;
}

struct files {
    FILE *json, *picture; /* NULL: none, or not rank 0 */
};

static int open_file(const char *name, FILE **file) {
    if (!name || (*file = fopen(name, "w")))
        return BH_OK;
    bh_complain("cannot write '%s': %s", name, strerror(errno));
    return BH_BAD_INPUT;
}

/* Opened before the work, so that a name that cannot be written is found out before it. */
static int open_files(const struct bh_options *o, int rank, struct files *f) {
    int code = BH_OK;
    if (rank == 0)
        code = open_file(o->json, &f->json);
    if (rank == 0 && !code)
        code = open_file(o->picture, &f->picture);
    return bh_agree(code, NULL);
}

static int close_file(const char *name, FILE *file) {
    if (!file)
        return BH_OK;
    int failed = ferror(file), error = errno;
    if (fclose(file)) {
        failed = 1;
        error = errno;
    }
    if (!failed)
        return BH_OK;
    bh_complain("cannot write '%s': %s", name, strerror(error));
    return BH_FAILED;
}

static int close_files(const struct bh_options *o, struct files *f, int code) {
    int json = close_file(o->json, f->json), picture = close_file(o->picture, f->picture);
    return bh_agree(code ? code : json ? json : picture, NULL);
}

/* Without the library, asking for it is a mistake; without asking, it is used if it is there. */
static int choose_cache(struct bh_options *o) {
    int loaded = bh_hearth_is_loaded(), all;
    MPI_Allreduce(&loaded, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (o->cache == BH_CACHE_AUTO)
        o->cache = all ? BH_HEARTH : BH_NONE;
    return bh_agree(
        o->cache == BH_HEARTH && !all ? BH_BAD_INPUT : BH_OK,
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
        int wrong = o->verify ? bh_verify(o, &bodies, &result) : BH_OK;
        bh_report(o, &bodies, &result, f->json); /* of wrong results too: they say how wrong */
        code = o->picture ? bh_picture(o, &bodies, f->picture) : BH_OK;
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
    if (code)
        return code;
    if (options.help) {
        if (rank == 0)
            bh_help(stdout);
        return BH_OK;
    }
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
    int code = run(argc, argv);
    if (fflush(stdout) && !code) {
        bh_complain("cannot write the results: %s", strerror(errno));
        code = BH_FAILED;
    }
    MPI_Finalize();
    return code;
}
