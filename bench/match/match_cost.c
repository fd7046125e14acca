/* match_cost.c: measures the cost of the heater for a thread that computes.
 *
 *      arithmetic      touches no memory: the cost of a second active core (clock, power)
 *      l2              reads half a megabyte in random order
 *      l3              reads eight megabytes in random order: the heater reduces the shared cache for this by the
 *                      memory that it keeps there
 *      stream          adds two arrays of 32 MB into a third
 *      writes          writes every line of the heated memory, which the heater's reads may have moved to its core
 *      pause           a pair of hearth_heater_pause and _resume
 *
 * beside a heater that keeps 64 KB, 1 MB or 8 MB warm, and beside a paused one, alternating.
 *
 *  Prints: kernel,heated bytes,samples,median ratio with / without the heater,low,high,median ns with,without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "hearth/hearth.h"
#include "heater/heater.h"
#include "rig.h"

static const char help[] =
    "match_cost [OPTION]...   cost of the heater for a computing thread; see the head of match_cost.c\n"
    "  --bytes 64k,1m,8m    memory that the heater keeps warm\n"
    "  --samples N          samples of each kernel\n"
    "HEARTH_HEATER=on ensures that there is a heater.\n";

enum { STREAM = 4 << 20, LINES = 1 << 17 };

static char *heated;
static size_t heated_bytes;
static double *a, *b, *c;
static uint64_t (*lines)[CACHE_LINE / sizeof(uint64_t)];
static volatile uint64_t sink;

static void arithmetic(void) {
    uint64_t x = sink | 1;
    for (int i = 0; i < 200000; i++)
        x = x * 0x2545f4914f6cdd1du + (x >> 29);
    sink = x;
}

static void read_lines(uint32_t count) {
    uint64_t sum = 0;
    uint32_t at = 1;
    for (int i = 0; i < 50000; i++) {
        at = at * 1664525 + 1013904223;
        sum += lines[(at >> 7) & (count - 1)][sum & 1];
    }
    sink = sum;
}

static void l2(void) {
    read_lines(LINES / 16);
}

static void l3(void) {
    read_lines(LINES);
}

static void stream(void) {
    static size_t from;
    for (size_t i = from; i < from + STREAM / 16; i++)
        a[i] = b[i] + 3 * c[i];
    from = (from + STREAM / 16) % STREAM;
}

static void writes(void) {
    for (int turn = 0; turn < (int)((8 << 20) / heated_bytes); turn++)
        for (size_t i = 0; i < heated_bytes; i += CACHE_LINE)
            ((volatile char *)heated)[i]++;
}

static void pauses(void) {
    for (int i = 0; i < 1000; i++) {
        hearth_heater_pause();
        hearth_heater_resume();
    }
}

static const struct kernel {
    const char *name;
    void (*run)(void);
} kernels[] = {{"arithmetic", arithmetic}, {"l2", l2},         {"l3", l3},
               {"stream", stream},         {"writes", writes}, {"pause", pauses}};

static double time_ns(const struct kernel *k) {
    uint64_t start = rig_ticks();
    k->run();
    return rig_ns(start, rig_ticks());
}

/* Each measurement follows a run that is not counted. */
static void measure(const struct kernel *k, long samples) {
    struct samples ratio = {0}, with = {0}, without = {0};
    for (long i = 0; i < samples; i++) {
        time_ns(k);
        double on = time_ns(k);
        heater_pause();
        time_ns(k);
        double off = time_ns(k);
        heater_resume();
        samples_add(&ratio, on / off);
        samples_add(&with, on);
        samples_add(&without, off);
    }
    printf("%s,%zu,", k->name, heated_bytes);
    rig_print(&ratio);
    printf(",%.0f,%.0f\n", samples_median(&with).value, samples_median(&without).value);
    samples_free(&with);
    samples_free(&without);
}

static double *doubles(void) {
    double *array = need(malloc(STREAM * sizeof *array));
    for (size_t i = 0; i < STREAM; i++)
        array[i] = (double)i;
    return array;
}

int main(int argc, char **argv) {
    long sizes[RIG_LIST], samples = option(argc, argv, "--samples", 100);
    rig_help(argc, argv, help);
    unsigned count = rig_list(rig_word(argc, argv, "--bytes", "64k,1m,8m"), sizes);
    rig_take_core(0);
    a = doubles();
    b = doubles();
    c = doubles();
    lines = need(aligned_alloc(4096, LINES * sizeof *lines));
    memset(lines, 0, LINES * sizeof *lines);
    for (unsigned s = 0; s < count; s++) {
        heated_bytes = (size_t)sizes[s];
        heated = need(calloc(1, heated_bytes));
        memset(heated, 1, heated_bytes);
        heater_add(heated, heated_bytes);
        rig_await_heater();
        for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
            measure(&kernels[k], samples);
        heater_retire(heated);
        free(heated);
    }
    return 0;
}
