/* test.c: runs the cases of a GASNet test in the order of their definition, and says what came out.
 *
 * A case that hangs is ended by an alarm that names it: the launcher's time limit would only say that
 * something did. */
#include "test.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CASES = 100, MOST_LINES = 8, CASE_SECONDS = 60, SEGMENT = 1 << 20 };

int test_rank, test_size;
uint64_t test_seed;
double test_seconds = 4;
gasnet_seginfo_t *test_segments;
__attribute__((weak)) const struct test_setup test_setup = {NULL, 0, 0};

static struct {
    const char *name;
    test_case *run;
    bool only_if_named;
} cases[MOST_CASES];
static int case_count, failures;
static const char *current = "start", *skipped;
static double started;

void test_register(const char *name, test_case *run, bool only_if_named) {
    if (case_count == MOST_CASES)
        abort();
    cases[case_count].name = name;
    cases[case_count].only_if_named = only_if_named;
    cases[case_count++].run = run;
}

void test_skip(const char *reason) {
    skipped = reason;
}

/* ---- expectations ---- */

static bool fail(const char *file, int line, const char *text, const char *detail) {
    const char *name = strrchr(file, '/');
    if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) < MOST_LINES)
        fprintf(stderr, "node %d: %s: %s:%d: expected %s%s\n", test_rank, current, name ? name + 1 : file,
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

/* ---- data ---- */

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_number(int rank, size_t index, int version) {
    return mix(mix(test_seed + (uint64_t)rank * 0x9e3779b97f4a7c15u + (uint64_t)version) + index);
}

void test_fill(void *to, size_t bytes, int rank, int version) {
    unsigned char *t = to;
    for (size_t i = 0; i < bytes; i++)
        t[i] = (unsigned char)test_number(rank, i, version);
}

void test_barrier(void) {
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    expect_eq(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
}

/* ---- the run ---- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double test_elapsed(void) {
    return now() - started;
}

static void on_alarm(int signal) {
    (void)signal;
    dprintf(2, "node %d: %s: does not end\n", test_rank, current);
    _exit(1);
}

/* Returns the position of the first case named. */
static int read_options(int argc, char **argv) {
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            test_seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seconds") == 0)
            test_seconds = strtod(argv[i + 1], NULL);
        else
            break;
    }
    if (i < argc && argv[i][0] == '-') {
        fprintf(stderr, "usage: %s [--seed N] [--seconds N] [case]...\n", argv[0]);
        exit(2);
    }
    return i;
}

static bool is_chosen(int i, int count, char **names) {
    for (int n = 0; n < count; n++)
        if (strcmp(cases[i].name, names[n]) == 0)
            return true;
    return count == 0 && !cases[i].only_if_named;
}

/* Returns the number of failures over all nodes. */
static int run_case(int i) {
    int total, mine;
    started = now();
    current = cases[i].name;
    skipped = NULL;
    failures = 0;
    alarm(CASE_SECONDS + (unsigned)test_seconds);
    cases[i].run();
    test_barrier(); /* all polled until all were through */
    mine = __atomic_load_n(&failures, __ATOMIC_RELAXED);
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test_rank == 0 && skipped && !total)
        printf("skip %s: %s\n", current, skipped);
    else if (test_rank == 0)
        printf("%s %s (%.1f s)\n", total ? "FAIL" : "ok", current, test_elapsed());
    fflush(stdout);
    return total;
}

static void start(int *argc, char ***argv) {
    signal(SIGALRM, on_alarm);
    current = "gasnet_init";
    alarm(CASE_SECONDS);
    GASNET_SAFE(gasnet_init(argc, argv));
    test_rank = (int)gasnet_mynode();
    test_size = (int)gasnet_nodes();
    if (test_seed == 0)
        test_seed = (uint64_t)time(NULL);
    MPI_Bcast(&test_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    current = "gasnet_attach";
    GASNET_SAFE(gasnet_attach(test_setup.handlers, test_setup.count,
                              test_setup.segment ? test_setup.segment : SEGMENT, 0));
    test_segments = calloc((size_t)test_size, sizeof *test_segments);
    GASNET_SAFE(gasnet_getSegmentInfo(test_segments, test_size));
}

int main(int argc, char **argv) {
    int first = read_options(argc, argv), ran = 0, failed = 0;
    start(&argc, &argv);
    for (int i = 0; i < case_count; i++) {
        if (!is_chosen(i, argc - first, argv + first))
            continue;
        ran++;
        failed += run_case(i) != 0;
    }
    current = "gasnet_exit";
    alarm(CASE_SECONDS);
    if (test_rank == 0)
        printf("%d cases, %d failed; %d nodes, seed %llu\n", ran, failed, test_size,
               (unsigned long long)test_seed);
    gasnet_exit(failed || !ran);
}
