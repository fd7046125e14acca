/* rank.c: prints what a rank sees: "rank 0 of 2 loaded yes mode always arguments [a b] [c]", and on another line
 * which of its parent processes, up to the one named by HEARTH_TEST_ABOVE, has Hearth in its environment.
 *
 *      rank [exit CODE | signal NUMBER | say WORD...] */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parent_of(int process) {
    char path[64], text[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fread(text, 1, sizeof text - 1, file) && strrchr(text, ')'))
        sscanf(strrchr(text, ')') + 1, " %*c %d", &parent);
    fclose(file);
    return parent;
}

static int has_hearth(int process) {
    static char text[1 << 20];
    char path[64];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/environ", process);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    for (char *entry = text; entry < text + n; entry += strlen(entry) + 1)
        found |= !strncmp(entry, "LD_PRELOAD=", 11) && strstr(entry, "libhearth-mpi.so");
    return !n || found; /* an unreadable file proves nothing */
}

static void look_above(int rank) {
    const char *top = getenv("HEARTH_TEST_ABOVE");
    int above = 0, tainted = 0;
    for (int p = getppid(); p > 1 && top && p != atoi(top); p = parent_of(p), above++)
        tainted += has_hearth(p);
    dprintf(STDOUT_FILENO, "rank %d: %s above it, %d with Hearth\n", rank, above ? "some" : "none", tainted);
}

/* In one write: launchers forward output as they receive it. */
static void say(int rank, int ranks, int argc, char **argv) {
    char line[4096];
    const char *mode = getenv("HEARTH_MODE");
    int n = snprintf(line, sizeof line, "rank %d of %d loaded %s mode %s arguments", rank, ranks,
                     dlsym(RTLD_DEFAULT, "CLAMPI_Get_stats") ? "yes" : "no", mode ? mode : "unset");
    for (int i = 2; i < argc && n < (int)sizeof line; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, " [%s]", argv[i]);
    dprintf(STDOUT_FILENO, "%s\n", line);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    say(rank, ranks, argc, argv);
    look_above(rank);
    if (argc > 2 && !strcmp(argv[1], "signal"))
        raise(atoi(argv[2]));
    MPI_Finalize();
    return argc > 2 && !strcmp(argv[1], "exit") ? atoi(argv[2]) : 0;
}
