/* frame.c: runs the cases of a test program, or of the programs of a suite, in the order of their definition, and
 * prints the results.
 *
 * An alarm ends a case that hangs and names it. The launcher's time limit could only say that some case hangs. */
#include "frame.h"

#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CASES = 400, MOST_PROGRAMS = 40, MOST_LINES = 8 };

int test_rank, test_size;
uint64_t test_seed;
double test_seconds = 4;

struct one_case {
    const char *name;
    test_case *run;
    bool only_if_named;
};

/* One source file. Its cases are numbered from `first` up to the next program's `first`. */
struct program {
    char name[32];
    const char *file;
    int first;
    bool chosen;
};

static struct one_case cases[MOST_CASES];
static struct program programs[MOST_PROGRAMS + 1]; /* and a sentinel */
static int case_count, program_count;
static const char *current = "the start", *skipped;
static double started;
static _Atomic int failures;

/* The name of a file without its folder and ending. */
static void set_name(char *name, size_t bytes, const char *file) {
    const char *base = strrchr(file, '/');
    snprintf(name, bytes, "%s", base ? base + 1 : file);
    name[strcspn(name, ".")] = '\0';
}

static void add_program(const char *file) {
    struct program *p = &programs[program_count++];
    if (program_count > MOST_PROGRAMS)
        abort();
    *p = (struct program){.file = file, .first = case_count, .chosen = true};
    set_name(p->name, sizeof p->name, file);
}

/* The constructors of one file run together, so its cases are consecutive. */
void test_register(const char *file, const char *name, test_case *run, bool only_if_named) {
    if (case_count == MOST_CASES)
        abort();
    if (!program_count || strcmp(programs[program_count - 1].file, file) != 0)
        add_program(file);
    cases[case_count++] = (struct one_case){name, run, only_if_named};
    programs[program_count].first = case_count;
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
    if ((got > want ? got - want : want - got) <= by) /* false if one of them is NaN */
        return true;
    snprintf(detail, sizeof detail, ": %.17g, %.17g", got, want);
    return fail(file, line, text, detail);
}

bool test_expect_bytes(const char *file, int line, const void *got, const void *want, size_t bytes) {
    const unsigned char *g = got, *w = want;
    char detail[80];
    if (bytes == 0 || memcmp(g, w, bytes) == 0)
        return true;
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
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t word = test_number(rank, i, version);
        memcpy(t + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
}

/* ---- the run ---- */

int test_times(int full) {
    return test_seconds < 1 ? (full + 3) / 4 : full;
}

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

/* ---- which programs ---- */

static int find_program(const char *name) {
    for (int i = 0; i < program_count; i++)
        if (strcmp(programs[i].name, name) == 0)
            return i;
    return -1;
}

static void choose_none(void) {
    for (int i = 0; i < program_count; i++)
        programs[i].chosen = false;
}

/* Chooses the program from the name under which the suite was started, without the family. */
static void choose_by_link(const char *path) {
    char own[64], *name;
    int found;
    set_name(own, sizeof own, path);
    name = strchr(own, '_');
    found = name ? find_program(name + 1) : -1;
    if (found < 0)
        return;
    choose_none();
    programs[found].chosen = true;
}

static bool choose_listed(char *list) {
    choose_none();
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        int found = find_program(name);
        if (found < 0)
            return false;
        programs[found].chosen = true;
    }
    return true;
}

/* Returns the index in argv of the first case name. */
static int read_options(int argc, char **argv) {
    int i = 1;
    choose_by_link(argv[0]);
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            test_seed = strtoull(argv[i + 1], NULL, 0);
        else if (strcmp(argv[i], "--seconds") == 0)
            test_seconds = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--programs") != 0 || !choose_listed(argv[i + 1]))
            break;
    }
    if (i < argc && argv[i][0] == '-') {
        fprintf(stderr, "usage: %s [--seed N] [--seconds N] [--programs FILE,FILE...] [case]...\n", argv[0]);
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

static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (test_rank == 0)
        vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

/* Returns the number of failures, summed over all ranks. */
static int run_case(int i) {
    int total, own;
    skipped = NULL;
    atomic_store(&failures, 0);
    begin_part(cases[i].name, test_seconds);
    cases[i].run();
    if (test_job.settle)
        test_job.settle();
    own = atomic_load(&failures);
    /* test/fault makes it fail */
    if (MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) {
        fprintf(stderr, "Fatal error in the MPI_Allreduce after %s\n", current);
        total = own + 1;
    }
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
    say("%s: %d %ss, seed %llu\n", (*argv)[0], test_size, test_job.member, (unsigned long long)test_seed);
    if (test_job.open)
        test_job.open(argc, argv);
}

/* Runs the cases of one file. test/runner parses the lines that begin with ==. */
static void run_program(int p, int count, char **names, int *ran, int *failed) {
    double begun = now();
    int ran_before = *ran, failed_before = *failed;
    const char *name = programs[p].name;
    if (program_count > 1)
        say("== %s\n", name);
    for (int i = programs[p].first; i < programs[p + 1].first; i++) {
        if (!is_chosen(i, count, names))
            continue;
        ++*ran;
        *failed += run_case(i) != 0;
    }
    if (program_count > 1)
        say("== %s: %s, %d cases, %.1f s\n", name, *failed > failed_before ? "FAIL" : "ok", *ran - ran_before,
            now() - begun);
}

int main(int argc, char **argv) {
    int first = read_options(argc, argv), count = argc - first, ran = 0, failed = 0;
    char **names = argv + first;
    start(&argc, &argv);
    for (int p = 0; p < program_count; p++)
        if (programs[p].chosen)
            run_program(p, count, names, &ran, &failed);
    begin_part("the end", 0);
    say("%d cases, %d failed; %d %ss, %s%sseed %llu\n", ran, failed, test_size, test_job.member,
        test_job.config ? test_job.config() : "", test_job.config ? ", " : "", (unsigned long long)test_seed);
    test_job.end(failed || !ran);
    return failed || !ran;
}
