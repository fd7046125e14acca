/* episodes.h: runs random tests: episodes with consecutive seeds, for a number of operations or a time. Options:
 * --seconds N, --operations N, --seed N. The seed is printed first; a failure names the seed of its episode. */
#ifndef HEARTH_TEST_EPISODES_H
#define HEARTH_TEST_EPISODES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* The test defines fail: it names the condition, the line and the seed of the episode, and ends the program. */
#define require(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            fail(#condition, __LINE__);                                                                      \
    } while (0)

struct episodes {
    const char *name, *operations, *things; /* printed as: ok NAME: 1000 OPERATIONS 2 THINGS */
    uint64_t (*run)(uint64_t seed);         /* returns the number of operations */
    uint64_t seed, most;
    double seconds;
};

static inline void episodes_options(struct episodes *e, int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--seconds"))
            e->seconds = atof(argv[i + 1]);
        else if (!strcmp(argv[i], "--operations"))
            e->most = (uint64_t)atof(argv[i + 1]);
        else if (!strcmp(argv[i], "--seed"))
            e->seed = strtoull(argv[i + 1], NULL, 10);
    }
    if (!e->most && e->seconds <= 0)
        e->seconds = 10;
}

/* The return value is for main. */
static inline int episodes_run(struct episodes e, int argc, char **argv) {
    uint64_t start = clock_ns(), done = 0, count = 0;
    e.seed = start;
    episodes_options(&e, argc, argv);
    printf("seed %llu\n", (unsigned long long)e.seed);
    fflush(stdout);
    while (e.most ? done < e.most : (double)(clock_ns() - start) < e.seconds * 1e9)
        done += e.run(e.seed + count++);
    printf("ok %s: %llu %s %llu %s\n1 passed, 0 failed\n", e.name, (unsigned long long)done, e.operations,
           (unsigned long long)count, e.things);
    return 0;
}

#endif
