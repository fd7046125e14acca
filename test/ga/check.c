/* check.c: runs the cases of a program in the order of their definition, and says what came out.
 *
 * A case that hangs is ended by an alarm that names it: the launcher's time limit would only say that
 * something did. */
#include "check.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CASES = 64, MOST_LINES = 8, CASE_SECONDS = 50 };

int me, ranks;
uint64_t test_seed;

static void initialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    GA_Initialize();
}

void (*test_begin)(int *argc, char ***argv) = initialize;
void (*test_end)(void) = GA_Terminate;

static struct {
    const char *name;
    test_case *run;
} cases[MOST_CASES];
static int case_count, failures;
static const char *current = "start", *skipped;

void test_register(const char *name, test_case *run) {
    if (case_count == MOST_CASES)
        abort();
    cases[case_count].name = name;
    cases[case_count++].run = run;
}

void test_skip(const char *reason) {
    skipped = reason;
}

/* ---- expectations ---- */

static bool fail(const char *file, int line, const char *text, const char *detail) {
    const char *name = strrchr(file, '/');
    if (failures++ < MOST_LINES)
        fprintf(stderr, "rank %d: %s: %s:%d: expected %s%s\n", me, current, name ? name + 1 : file, line,
                text, detail);
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
    if (fabs(got - want) <= by)
        return true;
    snprintf(detail, sizeof detail, ": %.17g, %.17g", got, want);
    return fail(file, line, text, detail);
}

/* ---- helpers ---- */

/* splitmix64: good from any seed, also from neighbouring ones. */
uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int draw_below(uint64_t *state, int limit) {
    return (int)(draw(state) % (uint64_t)limit);
}

int draw_between(uint64_t *state, int least, int most) {
    return least + draw_below(state, most - least + 1);
}

bool turn(void) {
    static bool last;
    return last = !last;
}

void *need(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        GA_Error("out of memory", 1);
    return memory;
}

/* ---- the program ---- */

static void on_alarm(int signal) {
    (void)signal;
    dprintf(2, "rank %d: %s: does not end\n", me, current);
    _exit(1);
}

static int read_options(int argc, char **argv) {
    if (argc < 3 || strcmp(argv[1], "--seed") != 0)
        return 1;
    test_seed = strtoull(argv[2], NULL, 0);
    return 3;
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
    int total;
    current = cases[i].name;
    skipped = NULL;
    failures = 0;
    alarm(CASE_SECONDS);
    cases[i].run();
    GA_Sync();
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0 && skipped)
        printf("skip %s: %s\n", current, skipped);
    else if (me == 0)
        printf("%s %s (%.1f s)\n", total ? "FAIL" : "ok", current, MPI_Wtime() - start);
    fflush(stdout);
    return total;
}

static void start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    signal(SIGALRM, on_alarm);
    alarm(CASE_SECONDS);
    if (test_seed == 0)
        test_seed = (uint64_t)time(NULL);
    MPI_Bcast(&test_seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%s: %d ranks, seed %llu\n", (*argv)[0], ranks, (unsigned long long)test_seed);
    fflush(stdout);
    test_begin(argc, argv);
    if (!MA_init(C_DBL, 500000, 500000))
        GA_Error("MA_init failed", 1);
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
    current = "the end";
    alarm(CASE_SECONDS);
    test_end();
    if (me == 0)
        printf("%d cases, %d failed; %d ranks, seed %llu\n", ran, failed, ranks,
               (unsigned long long)test_seed);
    MPI_Finalize();
    return failed || !ran;
}
