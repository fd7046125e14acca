/* modes_loop.c: measures a repeated get and its flush: bare, and in the modes off, transparent, acquire and
 * always; without reuse and with it.
 *
 * The ways take turns in random order, some gets each. Each turn is divided by the adjacent bare turn; the
 * result is the median of these ratios, so that neither slow moments nor slow minutes of the machine decide.
 * Without the library all ways are equal, and their ratios show the precision of the comparison.
 *
 *   modes_loop [--turns N] [--turn GETS] [--fill GETS] [--allocate 1]
 *
 *  Prints: pattern, way, bytes, gets, ns per get and flush (median, and 10th percentile), ratio to bare (median),
 *  low, high, ns beyond bare (median of the differences), share of hits. */
#include <stdio.h>

#include "base/clock.h"
#include "base/random.h"
#include "modes.h"

enum { FEWEST = 20 };                        /* turns */
static const uint64_t most_ns = 2500000000u; /* for turns beyond these, where gets are slow */

static char *buffer;

/* Random order, so that no way always follows the same one. */
static void shuffle(unsigned *order, unsigned count) {
    static struct random random = {.state = 1};
    for (unsigned i = 0; i < count; i++) {
        unsigned other = random_below(&random, i + 1);
        order[i] = order[other];
        order[other] = i;
    }
}

/* Nanoseconds per get. */
static double take_turn(struct way *w, enum pattern pattern, uint32_t bytes, long gets) {
    uint64_t start = clock_ns();
    uint64_t address = modes_run(w, pattern, bytes, buffer, gets);
    uint64_t end = clock_ns();
    bench_verify(buffer, address, bytes);
    return (double)(end - start) / (double)gets;
}

static uint64_t hits(MPI_Win win) {
    CLAMPI_Stats stats = bench_stats(win);
    return stats.full_hits + stats.partial_hits + stats.pending_hits;
}

static void print(const struct way *w, enum pattern pattern, uint32_t bytes, long gets, struct samples *times,
                  struct samples *ratios, struct samples *beyond, uint64_t hit) {
    struct median ratio = samples_median(ratios);
    printf("%s,%s,%u,%ld,%.1f,%.1f,%.4f,%.4f,%.4f,%.1f,%.4f\n", modes_pattern_name(pattern), w->name, bytes,
           gets, samples_median(times).value, samples_tenth(times), ratio.value, ratio.low, ratio.high,
           samples_median(beyond).value, (double)hit / (double)gets);
    samples_free(times);
    samples_free(ratios);
    samples_free(beyond);
}

/* The first of the ways is the bare one. */
static void measure(struct way *const *ways, unsigned count, enum pattern pattern, uint32_t bytes, long turns,
                    long gets) {
    struct samples times[WAYS] = {{0}}, ratios[WAYS] = {{0}}, beyond[WAYS] = {{0}};
    uint64_t before[WAYS];
    for (unsigned i = 0; i < count; i++) {
        modes_run(ways[i], pattern, bytes, buffer, 256); /* so that reused data is cached */
        before[i] = hits(ways[i]->win);
    }
    uint64_t start = clock_ns();
    for (long turn = 0; turn < turns && (turn < FEWEST || clock_ns() - start < most_ns); turn++) {
        double ns[WAYS];
        unsigned order[WAYS];
        shuffle(order, count);
        for (unsigned i = 0; i < count; i++)
            ns[order[i]] = take_turn(ways[order[i]], pattern, bytes, gets);
        for (unsigned i = 0; i < count; i++) {
            samples_add(&times[i], ns[i]);
            samples_add(&ratios[i], ns[i] / ns[0]);
            samples_add(&beyond[i], ns[i] - ns[0]);
        }
    }
    for (unsigned i = 0; i < count; i++)
        print(ways[i], pattern, bytes, (long)times[i].count * gets, &times[i], &ratios[i], &beyond[i],
              hits(ways[i]->win) - before[i]);
}

/* The window in mode off is measured separately from the cached ones: sync events are process-wide, and its flushes
 * must not be sync events for the others. */
static void measure_all(struct way ways[WAYS], enum pattern pattern, long turns, long gets) {
    struct way *const uncached[] = {&ways[BARE], &ways[OFF]};
    struct way *const cached[] = {&ways[BARE], &ways[TRANSPARENT], &ways[ACQUIRE], &ways[ALWAYS]};
    for (uint32_t bytes = 8; bytes <= LARGEST; bytes *= bytes < 1024 ? 128 : 16) {
        measure(uncached, 2, pattern, bytes, turns, gets);
        measure(cached, 4, pattern, bytes, turns, gets);
    }
}

int main(int argc, char **argv) {
    struct way ways[WAYS];
    bench_start(&argc, &argv);
    long turns = option(argc, argv, "--turns", 300), gets = option(argc, argv, "--turn", 8);
    long fill = option(argc, argv, "--fill", 40000);
    bool allocate = option(argc, argv, "--allocate", 0);
    buffer = bench_memory(LARGEST);
    for (enum pattern pattern = STREAM; pattern < PATTERNS; pattern++) {
        modes_open(ways, allocate);
        for (unsigned i = 0; i < WAYS && bench_is_initiator() && pattern == STREAM; i++)
            modes_fill(&ways[i], buffer, fill);
        if (bench_is_initiator())
            measure_all(ways, pattern, turns, gets);
        modes_close(ways);
    }
    bench_end();
    return 0;
}
