/* main.c: halo, three programs with halo exchanges like those that the paper on matching studies. They are
 * plain MPI and do not depend on libhearth-mpi. With it preloaded and HEARTH_MATCH=on, its queues replace those
 * of the MPI library, and the computed results are bitwise equal. */
#include "halo.h"

#include <string.h>

static const struct mode {
    const char *name, *about;
    int (*run)(int argc, char **argv);
} modes[] = {
    {"stencil", "many threads of a rank, each with messages of its own (Table 1)", halo_stencil},
    {"cg", "a conjugate gradient solver, with many other posted receives (Fig. 9)", halo_cg},
    {"fds", "many meshes on a rank: thousands of receives, out of order (Fig. 10)", halo_fds},
};

static const struct mode *find(const char *name) {
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (name && !strcmp(modes[i].name, name))
            return &modes[i];
    return NULL;
}

static void print_help(void) {
    printf("Usage: mpirun -n RANKS halo MODE [options]\n"
           "Three kinds of halo exchange; figures are those of the paper on matching and hot caching.\n\n");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        printf("  %-8s %s\n", modes[i].name, modes[i].about);
    printf(
        "\nhalo MODE --help lists its options. To have the messages matched by Hearth:\n"
        "  mpirun -n RANKS -x LD_PRELOAD=libhearth-mpi.so -x HEARTH_MATCH=on halo MODE ...      (Open MPI)\n"
        "  mpirun -n RANKS -genv LD_PRELOAD libhearth-mpi.so -genv HEARTH_MATCH on halo MODE ... (MPICH)\n"
        "\nExit code: 0 done, 1 failed or wrong result, 2 bad input.\n");
}

static int run(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : NULL;
    const struct mode *mode = find(word);
    int rank;
    if (mode)
        return mode->run(argc - 1, argv + 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool help = word && (!strcmp(word, "--help") || !strcmp(word, "-help") || !strcmp(word, "-h"));
    if (rank)
        return help ? APP_OK : APP_BAD_INPUT;
    if (help) {
        print_help();
        return APP_OK;
    }
    fprintf(stderr, "halo: %s%s%s: the mode must be stencil, cg or fds (see --help)\n", word ? "'" : "",
            word ? word : "nothing to do", word ? "'" : "");
    return APP_BAD_INPUT;
}

int main(int argc, char **argv) {
    bool threads = argc > 1 && !strcmp(argv[1], "stencil");
    int level;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
    int code = app_flush_stdout(run(argc, argv));
    MPI_Finalize();
    return code;
}
