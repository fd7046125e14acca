/* clampi_stream.c: gets that never repeat: what the cache costs where it cannot help.
 *
 * Each get is of an address not asked for before, into one of 16 buffers in turn, and flushed. Three windows
 * take turns in random order, eight gets each: one not cached, one transparent, one always. Each turn of a
 * cached window is divided by the turn of the uncached one beside it, and the median of these ratios is the
 * result, so that neither the machine's slow moments nor its slow minutes decide. Then the same, from empty
 * caches, with all eight gets under way at once and a single flush. Without the library the three windows
 * are alike, and their ratios show how well this compares.
 *
 * Each window walks over a third of the memory of its own, so that none finds it warmed by another; at the
 * end, the walk starts again one byte further on: again addresses never asked for.
 *
 * Prints: window, flushes (each or batch, and the same while the cache fills), bytes, turns, ns per get
 * (median, and the tenth that is fastest), ratio to uncached (median), low, high, hits so far (0: it is a
 * stream without reuse). */
#include <stdio.h>

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
    uint64_t first, at, shift, gets; /* first: of its third; at, shift: from there */
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

/* Any order, so that no window always comes after the same one. */
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

/* On new windows, with new caches: first while these fill, which takes 8000 entries by default, then all
 * sizes. */
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
    bool one = option(argc, argv, "--one", 0); /* a window alone, in the mode of the settings */
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
