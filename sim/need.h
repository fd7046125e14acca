/* need.h: checks without which a simulation cannot continue. They end the program with an error message. */
#ifndef HEARTH_SIM_NEED_H
#define HEARTH_SIM_NEED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void *need(void *memory) {
    if (memory)
        return memory;
    fprintf(stderr, "sim: no memory: choose fewer clients, nodes or pages\n");
    exit(1);
}

/* An invariant of the simulation, checked in every build: a wrong simulation must not print numbers. */
static inline void must(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "sim: broken: %s\n", what);
    exit(3);
}

#endif
