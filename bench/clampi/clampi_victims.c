/* clampi_victims.c: measures the effect of the choice of victims on the storage (Fig. 10) and on the hit ratio
 * (Fig. 11). The scheme and the sizes are settings; each run has a new window and another sequence, the same
 * for every scheme.
 *
 * Measurements start with the first capacity or failing access: from then on the storage is full, and
 * unoccupied bytes are lost to fragmentation.
 *
 *  Prints  trace,run,get,occupied share                                                      a thousand times per run
 *          total,run,gets,storage bytes / data bytes,hit ratio,occupied share (mean),visited per eviction,
 *          non-empty share,conflicting share,capacity share,failing share,entries at the end */
#include <stdio.h>

#include "bench.h"

struct tally {
    CLAMPI_Stats first; /* when the storage was full */
    bool full;
    double occupied; /* sum over the gets since then */
    uint64_t gets;
};

static double share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static void note(struct tally *t, const CLAMPI_Stats *now, long run, long get, long step) {
    if (!t->full && now->capacity + now->failing) {
        t->full = true;
        t->first = *now;
    }
    if (!t->full)
        return;
    double occupied = share(now->used_bytes, now->storage_bytes);
    t->occupied += occupied;
    t->gets++;
    if (get % step == 0)
        printf("trace,%ld,%ld,%.4f\n", run, get, occupied);
}

static void print_total(const struct tally *t, const CLAMPI_Stats *now, const struct sequence *s, long run) {
    uint64_t gets = now->gets - t->first.gets;
    printf("total,%ld,%llu,%.3f,%.4f,%.4f,%.2f,%.4f,%.4f,%.4f,%.4f,%llu\n", run, (unsigned long long)gets,
           share(now->storage_bytes, s->data), share(now->full_hits - t->first.full_hits, gets),
           t->gets ? t->occupied / (double)t->gets : 0,
           share(now->visited - t->first.visited, now->evictions - t->first.evictions),
           share(now->nonempty - t->first.nonempty, now->visited - t->first.visited),
           share(now->conflicting - t->first.conflicting, gets),
           share(now->capacity - t->first.capacity, gets), share(now->failing - t->first.failing, gets),
           (unsigned long long)now->entries);
}

static void measure(MPI_Win win, struct sequence *s, long gets, long run, char *buffer) {
    struct tally tally = {0};
    CLAMPI_Stats now = bench_stats(win);
    for (long i = 1; i <= gets; i++) {
        const struct pick *p = sequence_next(s);
        bench_get(buffer, p->disp, p->bytes, win);
        bench_flush(win);
        now = bench_stats(win);
        note(&tally, &now, run, i, gets / 1000);
    }
    print_total(&tally, &now, s, run);
}

static void run_one(long gets, long run, uint64_t seed) {
    struct sequence s;
    sequence_open(&s, 1000, seed);
    char *memory = bench_memory(s.memory), *buffer = bench_memory(1 << 16);
    MPI_Win win = bench_open(memory, s.memory, "always");
    if (bench_is_initiator())
        measure(win, &s, gets, run, buffer);
    bench_close(&win);
    sequence_close(&s);
}

int main(int argc, char **argv) {
    bench_start(&argc, &argv);
    long gets = option(argc, argv, "--gets", 100000), runs = option(argc, argv, "--runs", 2);
    for (long run = 0; run < runs; run++)
        run_one(gets, run, (uint64_t)(run + 1));
    bench_end();
    return 0;
}
