/* litmus.c: runs the tests of the program, each many times, and prints the results.
 *
 *      litmus_cache [--runs N] [--seed N] [--only NAME]... [--list] [--threads] [--ranks N] [--stale]
 *
 * A test runs on the first ranks of the world, as many as it needs; the others sleep meanwhile, since there may be
 * more ranks than cores. Ranks draw from two generators: one with the same seed on all ranks, which draws places, and
 * one of their own, which draws delays and methods. Both restart with each test, so that a test behaves the same when
 * it runs alone. */
#include "litmus.h"

#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"

enum { MOST_TESTS = 256, MOST_RANKS = 4, MOST_NAMES = 64, MOST_LINES = 3, PATIENCE = 20 /* seconds */ };

MPI_Comm litmus_comm;
int litmus_rank, litmus_size;
uint64_t litmus_runs = 1000;

static const struct litmus *tests[MOST_TESTS];
static int test_count;

static struct options {
    uint64_t seed;
    const char *only[MOST_NAMES];
    int names, ranks;
    bool list, threads, stale;
} options;

static MPI_Comm world[MOST_RANKS + 1]; /* of the first n ranks; null on the others */
static int world_rank, world_size;

static const struct litmus *current;
static const char *skipped;
static uint64_t run; /* number of the current run of the test, from 1 */
static _Atomic uint64_t forbidden;
static struct random common, own;

void litmus_register(const struct litmus *test) {
    if (test_count == MOST_TESTS)
        abort();
    tests[test_count++] = test;
}

/* ---- one run ---- */

uint64_t litmus_next(void) {
    if (run == litmus_runs || skipped)
        return 0;
    random_seed(&common, random_mix(options.seed) + ++run);
    return run;
}

uint32_t litmus_draw(uint32_t below) {
    return random_below(&common, below);
}

uint32_t litmus_roll(uint32_t below) {
    return random_below(&own, below);
}

/* Mostly none or short: the interesting interleavings are within a microsecond of the other rank's call. */
void litmus_delay(void) {
    uint32_t kind = litmus_roll(8);
    uint64_t ns = kind < 4 ? 0 : kind < 7 ? litmus_roll(4000) : litmus_roll(30000), start = clock_ns();
    while (ns && clock_ns() - start < ns)
        ;
}

/* ---- outcomes ---- */

void litmus_skip(const char *reason) {
    skipped = reason;
}

void litmus_forbid(const char *format, ...) {
    char text[160];
    va_list list;
    if (atomic_fetch_add(&forbidden, 1) >= MOST_LINES || options.stale)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(stderr, "%s: run %llu, rank %d: %s\n", current->name, (unsigned long long)run, litmus_rank, text);
}

static void does_not_end(const char *what) {
    fprintf(stderr, "FORBIDDEN %s: run %llu, rank %d: %s does not end; seed %llu\n", current->name,
            (unsigned long long)run, litmus_rank, what, (unsigned long long)options.seed);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void litmus_wait(uint64_t *patience, const char *what) {
    uint64_t now = clock_ns();
    if (!*patience)
        *patience = now;
    else if (now - *patience > PATIENCE * 1000000000ull)
        does_not_end(what);
}

static void on_alarm(int signal) {
    (void)signal;
    dprintf(2, "FORBIDDEN %s: rank %d: does not end\n", current ? current->name : "start", world_rank);
    _exit(1);
}

/* ---- the other ranks ---- */

/* Waits for all ranks, asleep except for making progress. */
static void sleep_together(void) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            usleep(500);
    }
}

/* ---- one test ---- */

static void seed_test(const struct litmus *test) {
    uint64_t name = 0;
    for (const char *c = test->name; *c; c++)
        name = random_mix(name + (unsigned char)*c);
    random_seed(&own, options.seed ^ name ^ (uint64_t)world_rank << 32);
    run = 0;
}

static void take_part(const struct litmus *test) {
    litmus_comm = world[test->ranks];
    if (litmus_comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(litmus_comm, &litmus_rank);
    MPI_Comm_size(litmus_comm, &litmus_size);
    scene_open(litmus_comm);
    test->run(test);
    scene_close();
}

/* Returns whether the outcome is the expected one. */
static bool judge(const struct litmus *test, uint64_t count, double seconds) {
    bool good = options.stale ? count > 0 : count == 0;
    if (world_rank == 0 && skipped)
        printf("skip %s: %s\n", test->name, skipped);
    else if (world_rank == 0)
        printf("%-4s %-28s %8llu runs %8llu forbidden %6.2f s\n", good ? "ok" : "FAIL", test->name,
               (unsigned long long)litmus_runs, (unsigned long long)count, seconds);
    fflush(stdout);
    return good || skipped;
}

static bool run_test(const struct litmus *test) {
    double start = MPI_Wtime();
    uint64_t total = 0, mine;
    current = test;
    skipped = NULL;
    atomic_store(&forbidden, 0);
    alarm(60 + (unsigned)(litmus_runs / 100));
    seed_test(test);
    take_part(test);
    sleep_together();
    mine = atomic_load(&forbidden);
    MPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return judge(test, total, MPI_Wtime() - start);
}

/* ---- the program ---- */

static void usage(void) {
    fprintf(stderr,
            "usage: litmus_cache [--runs N] [--seed N] [--only NAME]... [--list] [--threads] [--ranks N]"
            " [--stale]\n"
            "  --ranks N   only tests of at least N ranks\n"
            "  --threads   only tests of threads\n"
            "  --stale     the cache is never invalidated: each test must detect it\n");
    exit(2);
}

static uint64_t number(const char *text) {
    char *end;
    uint64_t n = text ? strtoull(text, &end, 0) : 0;
    if (!text || *end || end == text)
        usage();
    return n;
}

static void read_option(char **argv, int *i) {
    const char *name = argv[(*i)++];
    if (strcmp(name, "--list") == 0)
        options.list = true;
    else if (strcmp(name, "--threads") == 0)
        options.threads = true;
    else if (strcmp(name, "--stale") == 0)
        options.stale = true;
    else if (strcmp(name, "--runs") == 0)
        litmus_runs = number(argv[(*i)++]);
    else if (strcmp(name, "--seed") == 0)
        options.seed = number(argv[(*i)++]);
    else if (strcmp(name, "--ranks") == 0)
        options.ranks = (int)number(argv[(*i)++]);
    else if (strcmp(name, "--only") == 0 && argv[*i] && options.names < MOST_NAMES)
        options.only[options.names++] = argv[(*i)++];
    else
        usage();
}

static bool is_named(const char *name) {
    for (int i = 0; i < options.names; i++)
        if (strcmp(name, options.only[i]) == 0)
            return true;
    return options.names == 0;
}

static bool is_chosen(const struct litmus *test) {
    if (!is_named(test->name) || test->ranks < options.ranks)
        return false;
    if (options.stale && !options.names && !(test->marks & MARK_CATCHES))
        return false;
    return !(test->marks & MARK_THREADS) == !options.threads;
}

static int list_tests(void) {
    for (int i = 0; i < test_count; i++)
        printf("%-28s %d ranks%s%s\n", tests[i]->name, tests[i]->ranks,
               tests[i]->marks & MARK_CATCHES ? "" : ", passes a deaf cache",
               tests[i]->marks & MARK_THREADS ? ", --threads" : "");
    return 0;
}

static void split_world(void) {
    for (int n = 2; n <= MOST_RANKS; n++)
        MPI_Comm_split(MPI_COMM_WORLD, world_rank < n ? 0 : MPI_UNDEFINED, world_rank, &world[n]);
}

static void free_world(void) {
    for (int n = 2; n <= MOST_RANKS; n++)
        if (world[n] != MPI_COMM_NULL)
            MPI_Comm_free(&world[n]);
}

/* Returns whether the MPI supports the options; prints the reason if not. */
static bool start(int *argc, char ***argv) {
    int level, wanted = options.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(argc, argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    signal(SIGALRM, on_alarm);
    if (options.seed == 0)
        options.seed = (uint64_t)time(NULL);
    MPI_Bcast(&options.seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    split_world();
    if (world_size >= 2 && level >= wanted)
        return true;
    if (world_rank == 0)
        fprintf(stderr, "litmus_cache: needs at least 2 ranks%s\n", options.threads ? " and threads" : "");
    return false;
}

int main(int argc, char **argv) {
    int ran = 0, failed = 0;
    for (int i = 1; i < argc;)
        read_option(argv, &i);
    if (options.list)
        return list_tests();
    bool able = start(&argc, &argv);
    for (int i = 0; able && i < test_count; i++) {
        if (!is_chosen(tests[i]) || tests[i]->ranks > world_size)
            continue;
        ran++;
        failed += !run_test(tests[i]);
    }
    if (world_rank == 0)
        printf("%d litmus tests of %llu runs, %d failed; %d ranks, seed %llu\n", ran,
               (unsigned long long)litmus_runs, failed, world_size, (unsigned long long)options.seed);
    free_world();
    MPI_Finalize();
    return failed || !ran;
}
