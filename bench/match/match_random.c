/* match_random.c: measures the heater on random accesses (Sec. 4.3 of the paper).
 *
 * The memory is flushed from the caches, a gap passes, then as many lines are read as the memory has, in random
 * order: "dependent", where each line names the next and all are read once, or "independent", at pseudo-random
 * positions, where the CPU may have several loads in flight. The heater, with which the memory is registered, is
 * paused for every other sample; it works while the caches are emptied, and in the gap.
 *
 *  Prints: accesses,bytes,state,gap in us,heater,samples,median ns per access,low,high. */
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/random.h"
#include "heater/heater.h"
#include "rig.h"

static const char help[] =
    "match_random [OPTION]...   random reads with and without the heater; see the head of match_random.c\n"
    "  --bytes 64k,256k,1m,4m    memory read\n"
    "  --gaps 0,10,100,1000      us between emptying the caches and reading\n"
    "  --samples N               samples of each\n"
    "HEARTH_HEATER=on ensures that there is a heater.\n";

struct line {
    uint32_t next;
    char rest[CACHE_LINE - sizeof(uint32_t)];
};

static struct line *lines;
static uint32_t line_count;
static bool chained;
static volatile uint32_t sink;

/* Sattolo's shuffle: one cycle through all lines. */
static void link_lines(uint64_t seed) {
    struct random r;
    random_seed(&r, seed);
    for (uint32_t i = 0; i < line_count; i++)
        lines[i].next = i;
    for (uint32_t i = line_count - 1; i; i--) {
        uint32_t other = random_below(&r, i), next = lines[i].next;
        lines[i].next = lines[other].next;
        lines[other].next = next;
    }
}

static void read_chain(void) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < line_count; i++)
        at = lines[at].next;
    sink = at;
}

/* A linear congruential generator chooses the lines: their addresses depend on no load, and have no order that a
 * prefetcher follows. The count is a power of two, as the mask requires. */
static void read_all(void) {
    uint32_t mask = line_count - 1, sum = 0, at = 1;
    for (uint32_t i = 0; i < line_count; i++) {
        at = at * 1664525 + 1013904223;
        sum += lines[(at >> 7) & mask].next;
    }
    sink = sum;
}

static double read_ns(void) {
    uint64_t start = rig_ticks();
    (chained ? read_chain : read_all)();
    return rig_ns(start, rig_ticks()) / line_count;
}

static double cold_ns(double gap_us) {
    rig_flush_bytes(lines, line_count * sizeof *lines);
    rig_spin_us(gap_us);
    return read_ns();
}

static void set_heater(bool works) {
    static bool paused;
    if (paused == !works)
        return;
    paused = !works;
    (works ? heater_resume : heater_pause)();
    rig_spin_us(200);
}

static void print_row(const char *state, long gap, bool works, struct samples *s) {
    printf("%s,%zu,%s,%ld,%s,", chained ? "dependent" : "independent", line_count * sizeof *lines, state, gap,
           works ? "on" : "off");
    rig_print(s);
    printf("\n");
}

static void measure(long gap, long samples) {
    struct samples seen[2] = {{0}};
    for (long i = 0; i < 2 * samples; i++) {
        bool works = i % 2;
        set_heater(works);
        samples_add(&seen[works], gap < 0 ? read_ns() : cold_ns((double)gap));
    }
    for (int works = 0; works < 2; works++)
        print_row(gap < 0 ? "warm" : "cold", gap < 0 ? 0 : gap, works, &seen[works]);
}

static void measure_size(size_t bytes, const long *gaps, unsigned gap_count, long samples) {
    line_count = (uint32_t)(bytes / CACHE_LINE);
    lines = need(aligned_alloc(4096, bytes));
    link_lines(bytes);
    heater_add(lines, bytes);
    rig_await_heater();
    for (int c = 1; c >= 0; c--) {
        chained = c;
        measure(-1, samples);
        for (unsigned g = 0; g < gap_count; g++)
            measure(gaps[g], samples);
    }
    heater_retire(lines);
    free(lines);
}

int main(int argc, char **argv) {
    long sizes[RIG_LIST], gaps[RIG_LIST];
    rig_help(argc, argv, help);
    unsigned size_count = rig_list(rig_word(argc, argv, "--bytes", "64k,256k,1m,4m"), sizes);
    unsigned gap_count = rig_list(rig_word(argc, argv, "--gaps", "0,10,100,1000"), gaps);
    rig_take_core(0);
    for (unsigned s = 0; s < size_count; s++) {
        if (sizes[s] < 4096 || sizes[s] & (sizes[s] - 1)) {
            fprintf(stderr, "bench: --bytes: %ld is not a power of two from 4k on\n", sizes[s]);
            return 2;
        }
        measure_size((size_t)sizes[s], gaps, gap_count, option(argc, argv, "--samples", 20));
    }
    return 0;
}
