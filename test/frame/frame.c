/* frame.c: runs the cases of a test program in the order of their definition, and says what came out.
 *
 * A case that hangs is ended by an alarm that names it: the launcher's time limit would only say that something
 * did. */
#include "frame.h"

#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CASES = 100, MOST_LINES = 8 };

int test_rank, test_size;
uint64_t test_seed;
double test_seconds = 4;

static struct {
    const char *name;
    test_case *run;
    bool only_if_named;
} cases[MOST_CASES];
static int case_count;

static const char *current = "the start", *skipped;
static double started;
static _Atomic int failures;

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
    if (atomic_fetch_add(&failures, 1) < MOST_LINES)
        fprintf(stderr, "%s %d: %s: %s:%d: expected %s%s\n", test_job.member, test_rank, current,
                name ? name + 1 : file, line, text, detail);
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

bool test_expect_near(const char *file, int line, const char *text, double got, double want, double by) {
    char detail[80];
    if ((got > want ? got - want : want - got) <= by) /* and not if one is no number */
        return true;
    snprintf(detail, sizeof detail, ": %.17g, %.17g", got, want);
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
    dprintf(2, "%s %d: %s: does not end\n", test_job.member, test_rank, current);
    _exit(1);
}

static void begin_part(const char *name, double more) {
    current = name;
    started = now();
    alarm(test_job.seconds + (unsigned)more);
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

/* Returns the number of failures over all ranks. */
static int run_case(int i) {
    int total, own;
    skipped = NULL;
    atomic_store(&failures, 0);
    begin_part(cases[i].name, test_seconds);
    cases[i].run();
    if (test_job.settle)
        test_job.settle();
    own = atomic_load(&failures);
    MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test_rank == 0 && skipped && !total)
        printf("skip %s: %s\n", current, skipped);
    else if (test_rank == 0)
        printf("%s %s (%.1f s)\n", total ? "FAIL" : "ok", current, test_elapsed());
    fflush(stdout);
    return total;
}

static void start(int *argc, char ***argv) {
    signal(SIGALRM, on_alarm);
    begin_part("the start", 0);
    test_job.begin(argc, argv);
    if (test_seed == 0)
        test_seed = (uint64_t)time(NULL);
    MPI_Bcast(&test_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("%s: %d %ss, seed %llu\n", (*argv)[0], test_size, test_job.member,
               (unsigned long long)test_seed);
    fflush(stdout);
    if (test_job.open)
        test_job.open(argc, argv);
}

static void say_result(int ran, int failed) {
    if (test_rank == 0)
        printf("%d cases, %d failed; %d %ss, %s%sseed %llu\n", ran, failed, test_size, test_job.member,
               test_job.config ? test_job.config() : "", test_job.config ? ", " : "",
               (unsigned long long)test_seed);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int first = read_options(argc, argv), count = argc - first, ran = 0, failed = 0;
    char **names = argv + first;
    start(&argc, &argv);
    for (int i = 0; i < case_count; i++) {
        if (!is_chosen(i, count, names))
            continue;
        ran++;
        failed += run_case(i) != 0;
    }
    begin_part("the end", 0);
    say_result(ran, failed);
    test_job.end(failed || !ran);
    return failed || !ran;
}
