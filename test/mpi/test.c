/* test.c: runs the cases of a test program in the order of their definition, and says what came out.
 *
 * A case that hangs is ended by an alarm that names it: the launcher's time limit would only say that
 * something did. */
#include "test.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CASES = 100, MOST_LINES = 8, CASE_SECONDS = 40 };

int test_rank, test_size;
int test_threads_wanted = MPI_THREAD_SINGLE, test_threads;
double test_seconds = 4;
uint64_t test_seed;

static struct {
    const char *name;
    test_case *run;
} cases[MOST_CASES];
static int case_count;

static const char *current = "start";
static const char *skipped;
static _Atomic int failures;

void test_register(const char *name, test_case *run) {
    if (case_count == MOST_CASES)
        abort();
    cases[case_count].name = name;
    cases[case_count++].run = run;
}

void test_skip(const char *reason) {
    skipped = reason;
}

static bool fail(const char *file, int line, const char *text, const char *detail) {
    const char *name = strrchr(file, '/');
    if (atomic_fetch_add(&failures, 1) < MOST_LINES)
        fprintf(stderr, "rank %d: %s: %s:%d: expected %s%s\n", test_rank, current, name ? name + 1 : file,
                line, text, detail);
    return false;
}

bool test_expect(const char *file, int line, const char *text, bool holds) {
    return holds || fail(file, line, text, "");
}

bool test_expect_eq(const char *file, int line, const char *text, long long got, long long want) {
    char detail[64];
    if (got == want)
        return true;
    snprintf(detail, sizeof detail, ": %lld, %lld", got, want);
    return fail(file, line, text, detail);
}

bool test_expect_bytes(const char *file, int line, const void *got, const void *want, size_t bytes) {
    const unsigned char *g = got, *w = want;
    char detail[80];
    for (size_t i = 0; i < bytes; i++) {
        if (g[i] == w[i])
            continue;
        snprintf(detail, sizeof detail, ": byte %zu of %zu is %02x, not %02x", i, bytes, g[i], w[i]);
        return fail(file, line, "equal bytes", detail);
    }
    return true;
}

static void on_alarm(int signal) {
    (void)signal;
    dprintf(2, "rank %d: %s: does not end\n", test_rank, current);
    _exit(1);
}

static void usage(const char *program) {
    fprintf(stderr, "usage: %s [--seed N] [--seconds N] [case]...\n", program);
    exit(2);
}

/* Returns the position of the first case named. */
static int read_options(int argc, char **argv) {
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i += 2) {
        if (i + 1 == argc)
            usage(argv[0]);
        else if (strcmp(argv[i], "--seed") == 0)
            test_seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seconds") == 0)
            test_seconds = strtod(argv[i + 1], NULL);
        else
            usage(argv[0]);
    }
    return i;
}

static bool is_chosen(const char *name, int count, char **names) {
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return count == 0;
}

/* Returns the number of failures over all ranks. */
static int run_case(int i) {
    double start = MPI_Wtime();
    int total, own;
    current = cases[i].name;
    skipped = NULL;
    atomic_store(&failures, 0);
    alarm(CASE_SECONDS + (unsigned)test_seconds);
    cases[i].run();
    own = atomic_load(&failures);
    MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test_rank == 0 && skipped)
        printf("skip %s: %s\n", current, skipped);
    else if (test_rank == 0)
        printf("%s %s (%.1f s)\n", total ? "FAIL" : "ok", current, MPI_Wtime() - start);
    fflush(stdout);
    return total;
}

static void start(int *argc, char ***argv) {
    MPI_Init_thread(argc, argv, test_threads_wanted, &test_threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    signal(SIGALRM, on_alarm);
    if (test_seed == 0)
        test_seed = (uint64_t)time(NULL);
    MPI_Bcast(&test_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (test_size >= 2)
        return;
    fprintf(stderr, "%s: needs at least 2 ranks\n", (*argv)[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv) {
    int first = read_options(argc, argv), ran = 0, failed = 0;
    start(&argc, &argv);
    for (int i = 0; i < case_count; i++) {
        if (!is_chosen(cases[i].name, argc - first, argv + first))
            continue;
        ran++;
        failed += run_case(i) != 0;
    }
    current = "MPI_Finalize";
    alarm(CASE_SECONDS);
    if (test_rank == 0)
        printf("%d cases, %d failed; %d ranks, %s, seed %llu\n", ran, failed, test_size, test_config(),
               (unsigned long long)test_seed);
    MPI_Finalize();
    return failed || !ran;
}
