/* clampi_time.c: measures how long the micro-benchmark takes, from an empty cache (Fig. 9). The initial sizes,
 * and whether they adapt, are settings; each run has a new window, and therefore a new cache.
 *
 * A run takes a hundred milliseconds, and on a busy machine few runs are undisturbed. So each run is timed in
 * pieces of 100 gets; the same piece of several runs does the same work, and the minimum counts. The completion
 * time is the sum of the minima.
 *
 *  Prints: gets, seconds, seconds of the median run, hit ratio, conflicting, capacity and failing gets,
 *  adjustments, slots and bytes, those of the last run; once after a part of the gets, and once after all. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "bench.h"

enum { PIECE = 100 };

struct plan {
    long gets, part, runs;
    const struct pick **order;
    double *least;         /* minimal seconds of each piece */
    struct samples totals; /* of whole runs; */
    struct samples parts;  /* of their first part */
    CLAMPI_Stats at_part, at_end;
    char *buffer;
};

static double run_piece(const struct plan *p, long from, MPI_Win win) {
    uint64_t start = clock_ns();
    for (long i = from; i < from + PIECE; i++) {
        bench_get(p->buffer, p->order[i]->disp, p->order[i]->bytes, win);
        bench_flush(win);
    }
    return (double)(clock_ns() - start) / 1e9;
}

static void measure(struct plan *p, MPI_Win win) {
    double total = 0;
    for (long i = 0; i < p->gets; i += PIECE) {
        double seconds = run_piece(p, i, win), *least = &p->least[i / PIECE];
        total += seconds;
        *least = *least == 0 || seconds < *least ? seconds : *least;
        if (i + PIECE == p->part) {
            p->at_part = bench_stats(win);
            samples_add(&p->parts, total);
        }
    }
    p->at_end = bench_stats(win);
    samples_add(&p->totals, total);
}

static void print_state(const struct plan *p, long gets, const CLAMPI_Stats *s, struct samples *totals) {
    double seconds = 0;
    for (long i = 0; i < gets; i += PIECE)
        seconds += p->least[i / PIECE];
    printf("%ld,%.6f,%.6f,%.4f,%llu,%llu,%llu,%llu,%llu\n", gets, seconds, samples_median(totals).value,
           (double)s->full_hits / (double)gets, (unsigned long long)s->conflicting,
           (unsigned long long)(s->capacity + s->failing), (unsigned long long)s->adjustments,
           (unsigned long long)s->index_slots, (unsigned long long)s->storage_bytes);
}

static void print_all(struct plan *p) {
    print_state(p, p->part, &p->at_part, &p->parts);
    if (p->part < p->gets)
        print_state(p, p->gets, &p->at_end, &p->totals);
}

static void make_plan(struct plan *p, struct sequence *s, int argc, char **argv) {
    p->gets = option(argc, argv, "--gets", 100000) / PIECE * PIECE;
    p->part = option(argc, argv, "--part", 20000) / PIECE * PIECE;
    p->part = p->part < p->gets ? p->part : p->gets;
    p->runs = option(argc, argv, "--runs", 6);
    p->order = need(malloc((size_t)(p->gets + 1) * sizeof *p->order));
    p->least = need(calloc((size_t)(p->gets / PIECE + 1), sizeof *p->least));
    p->buffer = bench_memory(1 << 16);
    for (long i = 0; i < p->gets; i++)
        p->order[i] = sequence_next(s);
}

int main(int argc, char **argv) {
    struct plan p = {0};
    struct sequence s;
    bench_start(&argc, &argv);
    sequence_open(&s, 1000, (uint64_t)option(argc, argv, "--seed", 1));
    make_plan(&p, &s, argc, argv);
    char *memory = bench_memory(s.memory);
    bench_fill(memory, s.memory);
    for (long i = 0; i < p.runs; i++) {
        MPI_Win win = bench_open(memory, s.memory, "always");
        if (bench_is_initiator())
            measure(&p, win);
        bench_close(&win);
    }
    if (bench_is_initiator())
        print_all(&p);
    sequence_close(&s);
    bench_end();
    return 0;
}
