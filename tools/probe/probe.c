/* probe.c: probes the MPI that it is linked to, on two ranks, and prints the results, one per line:
 *
 *      library=TEXT            the first line of MPI's version string
 *      thread=LEVEL            the thread level that MPI provides if MPI_THREAD_MULTIPLE is requested
 *      align=right|wrong       the result of a get from a window that does not begin at a multiple of 16 bytes
 *      allocate_us=N           the time of a get from a window of MPI_Win_allocate, while the target computes for
 *                              COMPUTE ms without calling MPI
 *      create_us=N             the same, in a window of MPI_Win_create
 *      alone=right|refused     a window of one process
 *
 * Each line is printed as soon as it is known: after a hang or crash, the first missing line names the cause. The
 * argument `plain` requests MPI_THREAD_SINGLE, because some of Open MPI's transports refuse threads, and omits `thread`
 * and `alone`. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COMPUTE = 100 /* ms */, LIMIT = 25 /* s */, WORDS = 64 };

static int rank;

static void probe_say(const char *key, const char *value) {
    if (rank)
        return;
    printf("%s=%s\n", key, value);
    fflush(stdout);
}

static double probe_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void say_library(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = 0;
    for (char *c = text; *c; c++)
        if (*c == '\t')
            *c = ' ';
    probe_say("library", text);
}

static void say_thread(int level) {
    probe_say("thread", level == MPI_THREAD_MULTIPLE     ? "multiple"
                        : level == MPI_THREAD_SERIALIZED ? "serialized"
                        : level == MPI_THREAD_FUNNELED   ? "funneled"
                                                         : "single");
}

/* Word i holds 1000 + i. A window from the second word on begins 8 bytes past a multiple of 16. */
static void probe_alignment(void) {
    static _Alignas(64) uint64_t words[WORDS];
    uint64_t got = 0;
    MPI_Win window;
    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = 1000 + i;
    MPI_Win_create(words + 1, sizeof words - sizeof *words, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    MPI_Get(&got, sizeof got, MPI_BYTE, 1, 0, sizeof got, MPI_BYTE, window);
    MPI_Win_flush(1, window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&window);
    probe_say("align", got == 1001 ? "right" : "wrong");
}

/* Computes, without calling MPI. */
static double compute(void) {
    volatile double sum = 0;
    for (double end = probe_now() + 1e-3 * COMPUTE; probe_now() < end;)
        for (int i = 0; i < 1000; i++)
            sum += i;
    return sum;
}

static void time_get(const char *key, MPI_Win window) {
    uint64_t got;
    char text[32];
    MPI_Win_lock_all(0, window);
    /* The first get sets up connections. */
    MPI_Get(&got, sizeof got, MPI_BYTE, 1, 0, sizeof got, MPI_BYTE, window);
    MPI_Win_flush(1, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        compute();
    else {
        usleep(1000 * COMPUTE / 5); /* until the target computes */
        double start = probe_now();
        MPI_Get(&got, sizeof got, MPI_BYTE, 1, 0, sizeof got, MPI_BYTE, window);
        MPI_Win_flush(1, window);
        snprintf(text, sizeof text, "%.1f", 1e6 * (probe_now() - start));
        probe_say(key, text);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

static void probe_progress(void) {
    static _Alignas(64) uint64_t words[WORDS];
    MPI_Win window;
    void *base;
    MPI_Win_allocate(sizeof words, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    time_get("allocate_us", window);
    MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    time_get("create_us", window);
}

static void probe_alone(void) {
    static _Alignas(64) uint64_t words[WORDS];
    MPI_Win window = MPI_WIN_NULL;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int code = MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window);
    if (code == MPI_SUCCESS)
        MPI_Win_free(&window);
    probe_say("alone", code == MPI_SUCCESS ? "right" : "refused");
}

int main(int argc, char **argv) {
    int level = MPI_THREAD_SINGLE, ranks, plain = argc > 1 && !strcmp(argv[1], "plain");
    alarm(LIMIT); /* in case no process is left to end us */
    MPI_Init_thread(&argc, &argv, plain ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) {
        fprintf(
            stderr,
            "hearth-probe: needs two ranks, but has %d: use mpirun -n 2 of the MPI that it is linked to\n",
            ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    say_library();
    if (!plain)
        say_thread(level);
    probe_alignment();
    probe_progress();
    if (!plain)
        probe_alone();
    MPI_Finalize();
    return 0;
}
