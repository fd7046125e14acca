/* clampi_stream.c: measures gets that never repeat: the cost of the cache where it cannot help.
 *
 * Each get has a new address, goes into one of 16 buffers in turn, and is flushed. Three windows take turns in
 * random order, eight gets each: one uncached, one transparent, one always. Each turn of a cached window is
 * divided by the adjacent turn of the uncached one; the result is the median of these ratios, so that neither
 * slow moments nor slow minutes of the machine decide. Then the same, from empty caches, with all eight gets in
 * flight at once and a single flush. Without the library the three windows are equal, and their ratios show the
 * precision of the comparison.
 *
 * Each window walks over its own third of the memory, so that none profits from memory that another has warmed;
 * at the end the walk starts again one byte further on: again new addresses.
 *
 *  Prints: window, flushes (each or batch, and the same while the cache fills), bytes, turns, ns per get (median,
 *  and 10th percentile), ratio to uncached (median), low, high, hits so far (0: a stream without reuse). */
#include <stdio.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "bench.h"

enum {
    FILL = 10000,
    STREAMS = 3,
    TURN = 8,
    BUFFERS = 16,
    MOST = 1 << 16,
    THIRD = 16 << 20,
    MEMORY = STREAMS * THIRD
};

struct stream {
    const char *name, *mode;
    MPI_Win win;
    uint64_t first, at, shift, gets; /* first: start of its third; at, shift: relative to it */
};

static char *buffers;

static uint64_t next_address(struct stream *s, uint32_t bytes) {
    uint64_t address = s->first + s->at + s->shift;
    s->at += round_up(bytes, CACHE_LINE);
    if (s->at + s->shift + 2 * MOST > THIRD) {
        s->at = 0;
        s->shift++;
    }
    return address;
}

/* Nanoseconds per get. */
static double take_turn(struct stream *s, uint32_t bytes, bool each) {
    uint64_t start = clock_ns();
    for (unsigned i = 0; i < TURN; i++) {
        uint64_t address = next_address(s, bytes);
        bench_get(buffers + s->gets++ % BUFFERS * MOST, address, bytes, s->win);
        if (each)
            bench_flush(s->win);
    }
    if (!each)
        bench_flush(s->win);
    return (double)(clock_ns() - start) / TURN;
}

/* Random order, so that no window always follows the same one. */
static void shuffle(struct random *random, unsigned *order, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        order[i] = i;
    for (unsigned i = count; i > 1; i--) {
        unsigned other = random_below(random, i), moved = order[other];
        order[other] = order[i - 1];
        order[i - 1] = moved;
    }
}

static void measure(struct stream *streams, unsigned count, const char *phase, uint32_t bytes, bool each,
                    long turns) {
    static struct random random = {.state = 1};
    struct samples times[STREAMS] = {{0}}, ratios[STREAMS] = {{0}};
    for (long turn = -2; turn < turns; turn++) {
        double ns[STREAMS];
        unsigned order[STREAMS];
        shuffle(&random, order, count);
        for (unsigned i = 0; i < count; i++)
            ns[order[i]] = take_turn(&streams[order[i]], bytes, each);
        for (unsigned i = 0; i < count && turn >= 0; i++) {
            samples_add(&times[i], ns[i]);
            samples_add(&ratios[i], ns[i] / ns[0]);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        struct median ratio = samples_median(&ratios[i]);
        CLAMPI_Stats stats = bench_stats(streams[i].win);
        printf("%s,%s,%u,%ld,%.0f,%.0f,%.4f,%.4f,%.4f,%llu\n", streams[i].name, phase, bytes, turns,
               samples_median(&times[i]).value, samples_tenth(&times[i]), ratio.value, ratio.low, ratio.high,
               (unsigned long long)(stats.full_hits + stats.partial_hits + stats.pending_hits));
        samples_free(&times[i]);
        samples_free(&ratios[i]);
    }
}

/* On new windows, with new caches: first while these fill, which takes 8000 entries by default, then all sizes. */
static void measure_all(struct stream *streams, unsigned count, char *memory, bool each, long turns) {
    for (unsigned i = 0; i < count; i++)
        streams[i].win = bench_open(memory, MEMORY, streams[i].mode);
    if (bench_is_initiator()) {
        measure(streams, count, each ? "each-filling" : "batch-filling", 8, each, FILL / TURN);
        for (uint32_t bytes = 8; bytes <= MOST; bytes *= 2)
            measure(streams, count, each ? "each" : "batch", bytes, each, turns);
    }
    for (unsigned i = 0; i < count; i++)
        bench_close(&streams[i].win);
}

int main(int argc, char **argv) {
    bench_start(&argc, &argv);
    struct stream streams[STREAMS] = {{.name = "uncached", .mode = "off"},
                                      {.name = "transparent", .mode = "transparent"},
                                      {.name = "always", .mode = "always"}};
    bool one = option(argc, argv, "--one", 0); /* one window only, in the mode of the settings */
    long turns = option(argc, argv, "--turns", 200);
    if (one)
        streams[0] = (struct stream){.name = "alone"};
    char *memory = bench_memory(MEMORY);
    buffers = bench_memory((size_t)BUFFERS * MOST);
    bench_fill(memory, MEMORY);
    for (unsigned i = 0; i < STREAMS; i++)
        streams[i].first = (uint64_t)i * THIRD;
    measure_all(streams, one ? 1 : STREAMS, memory, true, turns);
    measure_all(streams, one ? 1 : STREAMS, memory, false, turns);
    bench_end();
    return 0;
}
