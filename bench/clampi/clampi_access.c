/* clampi_access.c: measures the cost of each kind of access (Fig. 7), and how much of it computation can hide
 * (Fig. 8).
 *
 * The micro-benchmark's sequence runs on a cached window; the counters around each get show which kind of
 * access it was. After every fourth get, another get of the sequence goes to a second, uncached window over the
 * same memory: the raw get, under the same conditions. Then the same again with overlap: a computation that
 * takes a quarter longer than the raw get of that size is placed between each get and its flush. The
 * computation makes no MPI call.
 *
 *      latency    get + flush
 *      share      (latency + computation - get, computation and flush together) / latency
 *      of_raw     latency / latency of the raw get of the same size: it can be compared between runs
 *
 *  Prints: kind, bytes, gets, latency, low, high, issue, flush, overlapped gets, time, computation, share, of_raw; in us. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"

enum kind { RAW, HITTING, DIRECT, CONFLICTING, CAPACITY, FAILING, OTHER, KINDS };
static const char *const names[] = {"raw", "hitting", "direct", "conflicting", "capacity", "failing"};

struct cell {
    struct samples latency, issue, flush, overlapped;
};

static struct cell cells[KINDS][SIZE_CLASSES];
static uint64_t compute_ns[SIZE_CLASSES];
static char *buffer;

static void compute(uint64_t ns) {
    uint64_t end = clock_ns() + ns;
    while (clock_ns() < end)
        ;
}

struct timing {
    double issue, total;
};

static struct timing run_one(MPI_Win win, const struct pick *p, uint64_t compute_for) {
    uint64_t start = clock_ns();
    bench_get(buffer, p->disp, p->bytes, win);
    uint64_t issued = clock_ns();
    if (compute_for)
        compute(compute_for);
    bench_flush(win);
    uint64_t end = clock_ns();
    bench_verify(buffer, p->disp, p->bytes);
    return (struct timing){(double)(issued - start) / 1000, (double)(end - start) / 1000};
}

static enum kind kind_between(const CLAMPI_Stats *a, const CLAMPI_Stats *b) {
    if (b->full_hits > a->full_hits)
        return HITTING;
    if (b->direct > a->direct)
        return DIRECT;
    if (b->conflicting > a->conflicting)
        return CONFLICTING;
    if (b->capacity > a->capacity)
        return CAPACITY;
    return b->failing > a->failing ? FAILING : OTHER;
}

static void note(enum kind kind, const struct pick *p, struct timing t, bool overlapped) {
    struct cell *cell = &cells[kind][p->class];
    if (overlapped) {
        samples_add(&cell->overlapped, t.total);
        return;
    }
    samples_add(&cell->latency, t.total);
    samples_add(&cell->issue, t.issue);
    samples_add(&cell->flush, t.total - t.issue);
}

/* The duration of the computation, from raw gets before the measurement. */
static void calibrate(MPI_Win raw, const struct sequence *s) {
    struct samples seen[SIZE_CLASSES] = {0};
    for (unsigned round = 0; round < 3; round++)
        for (uint32_t i = 0; i < s->distinct; i++)
            samples_add(&seen[s->picks[i].class], run_one(raw, &s->picks[i], 0).total);
    for (unsigned class = 0; class < SIZE_CLASSES; class ++) {
        compute_ns[class] = (uint64_t)(1250 * samples_median(&seen[class]).value);
        samples_free(&seen[class]);
    }
}

static void pass(MPI_Win cached, MPI_Win raw, struct sequence *s, long gets, long forget, bool overlapped) {
    CLAMPI_Stats before = bench_stats(cached), after;
    for (long i = 0; i < gets; i++) {
        const struct pick *p = sequence_next(s);
        struct timing t = run_one(cached, p, overlapped ? compute_ns[p->class] : 0);
        after = bench_stats(cached);
        note(kind_between(&before, &after), p, t, overlapped);
        if (i % 4 == 0) {
            p = sequence_next(s); /* the same get would find its data in the target's CPU caches */
            note(RAW, p, run_one(raw, p, overlapped ? compute_ns[p->class] : 0), overlapped);
        }
        if (forget && i % forget == forget - 1)
            bench_forget(cached);
        before = bench_stats(cached);
    }
}

static void print_cell(enum kind kind, unsigned class) {
    struct cell *cell = &cells[kind][class];
    struct median latency = samples_median(&cell->latency), both = samples_median(&cell->overlapped);
    if (cell->latency.count < 5)
        return;
    printf("%s,%u,%zu,%.3f,%.3f,%.3f,%.3f,%.3f,", names[kind], 1u << class, cell->latency.count,
           latency.value, latency.low, latency.high, samples_median(&cell->issue).value,
           samples_median(&cell->flush).value);
    double computing = (double)compute_ns[class] / 1000,
           share = (latency.value + computing - both.value) / latency.value;
    if (cell->overlapped.count < 5)
        printf("0,,,,");
    else
        printf("%zu,%.3f,%.3f,%.3f,", cell->overlapped.count, both.value, computing,
               share < 0   ? 0
               : share > 1 ? 1
                           : share);
    if (cells[RAW][class].latency.count < 5)
        printf("\n");
    else
        printf("%.4f\n", latency.value / samples_median(&cells[RAW][class].latency).value);
}

static void print_all(void) {
    for (unsigned kind = RAW; kind < OTHER; kind++)
        for (unsigned class = 0; class < SIZE_CLASSES; class ++)
            print_cell((enum kind)kind, class);
}

int main(int argc, char **argv) {
    bench_start(&argc, &argv);
    struct sequence s;
    sequence_open(&s, 1000, (uint64_t)option(argc, argv, "--seed", 1));
    char *memory = bench_memory(s.memory);
    buffer = bench_memory(1 << 16);
    bench_fill(memory, s.memory);
    MPI_Win cached = bench_open(memory, s.memory, "always"), raw = bench_open(memory, s.memory, "off");
    long gets = option(argc, argv, "--gets", 20000), forget = option(argc, argv, "--forget", 0);
    if (bench_is_initiator()) {
        calibrate(raw, &s);
        pass(cached, raw, &s, gets, forget, false);
        pass(cached, raw, &s, gets, forget, true);
        print_all();
    }
    bench_close(&raw);
    bench_close(&cached);
    sequence_close(&s);
    bench_end();
    return 0;
}
