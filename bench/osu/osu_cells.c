/* osu_cells.c: a table of times by call and size, of the kind that the OSU micro-benchmarks print.
 *
 * A plain MPI program; osu.sh runs it with and without the library under test, in turn.
 *
 *      messages      on 2 ranks: latency, bandwidth, bandwidth of both directions, persistent and strided messages, queued receives
 *      pairs         on 4 ranks: rate of two pairs
 *      threads       on 2 ranks: latency of two threads each
 *      collectives   barrier, bcast, allreduce, alltoall, allgather
 *      allocate, create, dynamic
 *                    on 2 ranks: each operation in windows of this kind, under lock, flush, fence and post-start-complete-wait
 *
 * Options: --milliseconds N for each cell; --sizes A,B,... in bytes; --nodes 1: each rank is a node, for what is known to
 * fail there. Prints: case,bytes,samples,ns,low,high,least. A sample is the mean time of an operation over executions that
 * take SAMPLE together; ns is the median of the samples. */
#include "osu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sample.h"

enum { MOST_SIZES = 32, MOST_TIMES = 1 << 14, MOST_SAMPLES = 2000, LEAST_SAMPLES = 3 };
static const double SAMPLE = 2e-4; /* seconds */

int osu_rank, osu_size;
char *osu_out, *osu_in;
bool osu_between_nodes;

static double limit; /* seconds per cell */
static size_t sizes[MOST_SIZES];
static int size_count;

double osu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void osu_check(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "osu: wrong result of %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- sizes ---- */

size_t osu_next(size_t bytes, size_t most) {
    for (int i = 0; i < size_count; i++)
        if (sizes[i] > bytes)
            return sizes[i] <= most ? sizes[i] : 0;
    return 0;
}

size_t osu_first(size_t least, size_t most) {
    return osu_next(least - 1, most);
}

int osu_window(size_t bytes) {
    enum { MOST = 32, LEAST = 2 };
    size_t fit = BLOCK / bytes;
    return fit > MOST ? MOST : fit < LEAST ? LEAST : (int)fit;
}

static void read_sizes(const char *text) {
    for (char *end; *text && size_count < MOST_SIZES; text = *end ? end + 1 : end)
        sizes[size_count++] = strtoul(text, &end, 10);
}

/* ---- one cell ---- */

static double agree(double value) { /* that of rank 0 */
    MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return value;
}

/* Also warms up: connections, types and queues are made at first use. */
static int enough_times(size_t bytes, osu_execute *execute) {
    int times = 1;
    while (agree(execute(bytes, times)) < SAMPLE && times < MOST_TIMES)
        times *= 2;
    return times;
}

static bool is_over(const struct samples *s, double begun) {
    bool late = osu_now() - begun > limit && s->count >= LEAST_SAMPLES;
    return agree(late || s->count >= MOST_SAMPLES) != 0;
}

void osu_measure(const char *name, size_t bytes, int operations, osu_execute *execute) {
    struct samples s = {0};
    int times = enough_times(bytes, execute);
    for (double begun = osu_now(); !is_over(&s, begun);)
        samples_add(&s, execute(bytes, times) * 1e9 / times / operations);
    struct median m = samples_median(&s);
    if (osu_rank == 0) {
        printf("%s,%zu,%zu,%.1f,%.1f,%.1f,%.1f\n", name, bytes, s.count, m.value, m.low, m.high,
               samples_least(&s));
        fflush(stdout);
    }
    samples_free(&s);
}

/* ---- all of them ---- */

static const struct osu_group groups[] = {
    {"messages", 2, false, osu_messages}, {"pairs", 4, false, osu_pairs},
    {"threads", 2, true, osu_threads},    {"collectives", 0, false, osu_collectives},
    {"allocate", 2, false, osu_allocate}, {"create", 2, false, osu_create},
    {"dynamic", 2, false, osu_dynamic},
};

static const struct osu_group *group_named(const char *name) {
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(groups[i].name, name))
            return &groups[i];
    fprintf(
        stderr,
        "osu_cells GROUP [--milliseconds N] [--sizes A,B,...] [--nodes 1]; see the head of osu_cells.c\n");
    exit(2);
}

/* With a core for each rank the system moves none, which would disturb some cells and not others. */
static void bind_to_core(void) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < osu_size)
        return;
    for (int core = 0, seen = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET((size_t)core, &allowed) && seen++ == osu_rank)
            CPU_SET((size_t)core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static const char *text_option(int argc, char **argv, const char *name, const char *fallback) {
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], name))
            return argv[i + 1];
    return fallback;
}

int main(int argc, char **argv) {
    const struct osu_group *group = group_named(argc > 1 ? argv[1] : "");
    int level, wanted = group->threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &osu_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &osu_size);
    if ((group->ranks && osu_size != group->ranks) || level < wanted) {
        fprintf(stderr, "osu: %s runs on %d ranks\n", group->name, group->ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    limit = (double)option(argc, argv, "--milliseconds", 20) / 1000;
    osu_between_nodes = option(argc, argv, "--nodes", 0);
    read_sizes(text_option(argc, argv, "--sizes", "8,4096,65536,1048576"));
    osu_out = need(aligned_alloc(4096, BLOCK));
    osu_in = need(aligned_alloc(4096, BLOCK));
    memset(osu_out, 1, BLOCK);
    memset(osu_in, 0, BLOCK);
    bind_to_core();
    group->run();
    free(osu_out);
    free(osu_in);
    MPI_Finalize();
    return 0;
}
