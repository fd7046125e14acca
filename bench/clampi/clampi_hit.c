/* clampi_hit.c: compares a full hit with its flush to the bare copy of its data.
 *
 * Four entries of one size are fetched in turn into one buffer, in a loop of about half a millisecond; then the
 * same number of memcpy of the same size from four addresses to the same buffer. The two alternate, so that
 * disturbances affect both. The sources of the copies resemble the cache's storage: adjacent cache lines, in as
 * much memory of the same kind. Each loop is long enough to include its share of the progress calls that hits
 * make. The minimum of the batches is the cost without disturbances by other processes; the median is printed
 * beside it. The last column is the raw get of the same size, from the same memory through an uncached window.
 *
 *  Prints: bytes, hit least, hit median, copy least, copy median, raw median, share of gets that were hits, of
 *  elided flushes; in ns. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "bench.h"

enum { PLACES = 4, LARGEST = 1 << 16, AREA = 16 << 20 };

static char *buffer, *area;

static double time_hits(MPI_Win win, uint32_t bytes, long loops) {
    uint64_t disp[PLACES], start = clock_ns();
    for (unsigned i = 0; i < PLACES; i++)
        disp[i] = i * (uint64_t)LARGEST;
    for (long i = 0; i < loops; i++) {
        bench_get(buffer, disp[i % PLACES], bytes, win);
        bench_flush(win);
    }
    return (double)(clock_ns() - start) / (double)loops;
}

static double time_copies(uint32_t bytes, long loops) {
    uint64_t stride = round_up(bytes, CACHE_LINE), start = clock_ns();
    for (long i = 0; i < loops; i++) {
        memcpy(buffer, area + (uint64_t)i % PLACES * stride, bytes);
        __asm__ volatile("" ::"r"(buffer), "r"(bytes) : "memory"); /* no copy may be optimised away */
    }
    return (double)(clock_ns() - start) / (double)loops;
}

static double time_raw(MPI_Win win, uint32_t bytes, long loops) {
    struct samples seen = {0};
    for (long i = 0; i < loops; i++) {
        uint64_t start = clock_ns();
        bench_get(buffer, (uint64_t)i % PLACES * LARGEST, bytes, win);
        bench_flush(win);
        samples_add(&seen, (double)(clock_ns() - start));
    }
    double median = samples_median(&seen).value;
    samples_free(&seen);
    return median;
}

static void measure(MPI_Win win, MPI_Win raw, uint32_t bytes, long batches) {
    struct samples hits = {0}, copies = {0};
    CLAMPI_Stats before, after;
    bench_forget(win);
    time_hits(win, bytes, 64);
    long loops = (long)(500000 / (time_copies(bytes, 2000) + 50)) + 1;
    time_hits(win, bytes, loops);
    before = bench_stats(win);
    for (long i = 0; i < batches; i++) {
        samples_add(&hits, time_hits(win, bytes, loops));
        samples_add(&copies, time_copies(bytes, loops));
    }
    after = bench_stats(win);
    double gets = (double)(after.gets - before.gets);
    double raw_ns = time_raw(raw, bytes, 200);
    printf("%u,%.2f,%.2f,%.2f,%.2f,%.0f,%.4f,%.4f\n", bytes, samples_least(&hits),
           samples_median(&hits).value, samples_least(&copies), samples_median(&copies).value, raw_ns,
           (double)(after.full_hits - before.full_hits) / gets,
           (double)(after.elided - before.elided) / gets);
    samples_free(&hits);
    samples_free(&copies);
}

int main(int argc, char **argv) {
    bench_start(&argc, &argv);
    long batches = option(argc, argv, "--batches", 60);
    size_t bytes = (size_t)PLACES * LARGEST;
    char *memory = bench_memory(bytes);
    buffer = bench_memory(LARGEST);
    area = bench_memory(AREA);
    bench_fill(memory, bytes);
    memset(area, 1, AREA);
    MPI_Win win = bench_open(memory, bytes, "always"), raw = bench_open(memory, bytes, "off");
    if (bench_is_initiator())
        for (unsigned class = 0; class < SIZE_CLASSES; class ++)
            measure(win, raw, 1u << class, batches);
    bench_close(&raw);
    bench_close(&win);
    bench_end();
    return 0;
}
