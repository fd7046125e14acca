/* modes_count.c: runs the loops of modes_loop.c, each announced to modes_step.c, which counts the instructions
 * of one.
 *
 *   modes_count [--gets N] [--fill GETS] [--allocate 1]
 *
 * Prints a line per loop, in order: pattern, way, gets, ns per get and flush. Run alone it prints the times
 * that belong to the counts. Gets have 8 bytes: the cost of more bytes is the same copy for all ways. */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "modes.h"

enum { BYTES = 8 };

static char buffer[CACHE_LINE];

static double measure(struct way *w, enum pattern pattern, long gets) {
    raise(SIGUSR1);
    uint64_t start = clock_ns();
    modes_run(w, pattern, BYTES, buffer, gets);
    uint64_t end = clock_ns();
    raise(SIGUSR2);
    return (double)(end - start) / (double)gets;
}

int main(int argc, char **argv) {
    struct way ways[WAYS];
    bench_start(&argc, &argv);
    long gets = option(argc, argv, "--gets", 1000), fill = option(argc, argv, "--fill", 40000);
    bool allocate = option(argc, argv, "--allocate", 0);
    signal(SIGUSR1, SIG_IGN); /* without a tracer; a tracer sees the signals anyway */
    signal(SIGUSR2, SIG_IGN);
    for (enum pattern pattern = STREAM; pattern < PATTERNS; pattern++) {
        modes_open(ways, allocate);
        for (unsigned i = 0; i < WAYS && bench_is_initiator(); i++) {
            if (pattern == STREAM)
                modes_fill(&ways[i], buffer, fill);
            else
                modes_run(&ways[i], pattern, BYTES, buffer, 1000);
            double ns = measure(&ways[i], pattern, gets);
            printf("%s,%s,%ld,%.1f\n", modes_pattern_name(pattern), ways[i].name, gets, ns);
        }
        modes_close(ways);
    }
    bench_end();
    return 0;
}
