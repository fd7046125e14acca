/* test.c: runs the cases of an ARMCI test in the order of their definition, and says what came out.
 *
 * A case that hangs is ended by an alarm that names it: the launcher's time limit would only say that something
 * did. */
#include "test.h"

#include <mp3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CASES = 100, MOST_LINES = 8, CASE_SECONDS = 60 };

int test_rank, test_size;
uint64_t test_seed;
double test_seconds = 4;
bool test_ours;

static struct {
    const char *name;
    test_case *run;
    bool only_if_named;
} cases[MOST_CASES];
static int case_count, failures;
static const char *current = "start", *skipped;

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
    if (failures++ < MOST_LINES)
        fprintf(stderr, "rank %d: %s: %s:%d: expected %s%s\n", test_rank, current, name ? name + 1 : file,
                line, text, detail);
    return false;
}

bool test_expect(const char *file, int line, const char *text, bool holds) {
    return holds || fail(file, line, text, "");
}

bool test_expect_eq(const char *file, int line, const char *text, long long got, long long want) {
    char detail[64];
    snprintf(detail, sizeof detail, ": %lld, %lld", got, want);
    return got == want || fail(file, line, text, detail);
}

bool test_expect_real(const char *file, int line, const char *text, double got, double want) {
    char detail[64];
    snprintf(detail, sizeof detail, ": %.17g, %.17g", got, want);
    return got == want || fail(file, line, text, detail);
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

/* ---- nodes ---- */

static int ranks_to_a_node(void) {
    const char *topology = getenv("HEARTH_ARMCI_TOPOLOGY"), *most = getenv("HEARTH_NODE_RANKS");
    if (!test_ours || !topology || strcmp(topology, "real") != 0)
        return 1;
    return most && atoi(most) > 0 && atoi(most) < test_size ? atoi(most) : test_size;
}

int test_node(int rank) {
    return rank / ranks_to_a_node();
}

int test_nodes(void) {
    return test_node(test_size - 1) + 1;
}

int test_master(int node) {
    return node * ranks_to_a_node();
}

/* ---- the run ---- */

static void on_alarm(int signal) {
    (void)signal;
    dprintf(2, "rank %d: %s: does not end\n", test_rank, current);
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

/* Returns the number of failures over all ranks. */
static int run_case(int i) {
    double start = MP_TIMER();
    int total;
    current = cases[i].name;
    skipped = NULL;
    failures = 0;
    alarm(CASE_SECONDS + (unsigned)test_seconds);
    cases[i].run();
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (test_rank == 0 && skipped && !total)
        printf("skip %s: %s\n", current, skipped);
    else if (test_rank == 0)
        printf("%s %s (%.1f s)\n", total ? "FAIL" : "ok", current, MP_TIMER() - start);
    fflush(stdout);
    return total;
}

static void start(void) {
    MP_MYID(&test_rank);
    MP_PROCS(&test_size);
    signal(SIGALRM, on_alarm);
    test_ours = getenv("HEARTH_TEST_CONFIG") != NULL;
    if (test_seed == 0)
        test_seed = (uint64_t)time(NULL);
    MPI_Bcast(&test_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    current = "ARMCI_Init";
    alarm(CASE_SECONDS);
    ARMCI_Init();
}

static void end(int ran, int failed) {
    current = "ARMCI_Finalize";
    alarm(CASE_SECONDS);
    if (test_rank == 0)
        printf("%d cases, %d failed; %d ranks, seed %llu\n", ran, failed, test_size,
               (unsigned long long)test_seed);
    fflush(stdout);
    ARMCI_Finalize();
    MP_FINALIZE();
}

int main(int argc, char **argv) {
    int first = read_options(argc, argv), ran = 0, failed = 0;
    MP_INIT(argc, argv);
    start();
    for (int i = 0; i < case_count; i++) {
        if (!is_chosen(i, argc - first, argv + first))
            continue;
        ran++;
        failed += run_case(i) != 0;
    }
    end(ran, failed);
    return failed || !ran;
}
