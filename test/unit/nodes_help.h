/* nodes_help.h: for tests that run the processes of whole jobs, of one or several nodes: limits, settings, and
 * suppressions for ThreadSanitizer. */
#ifndef HEARTH_TEST_NODES_HELP_H
#define HEARTH_TEST_NODES_HELP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_THREAD__
enum { NODE_MOST = 1 }; /* TSan does not see the order that one process gives to two threads of another */

/* For functions that access the program's own words. Mapping a page at their address is not a write, but TSan takes it for
 * one. */
#define NOT_FOR_TSAN __attribute__((noinline, no_sanitize_thread))

/* These races are intended: the program reads words while they are written, and a page that is modified while it is being
 * written to the NVM is written again afterwards. The accesses around the copies are still checked. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "race:^access_copy$\nrace:^pages_small_serve$\nrace:^pages_small_apply$\nrace:^pages_behind_keep$"
           "\n";
}

/* A history long enough for reports to show both stacks. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "history_size=7";
}
#else
enum { NODE_MOST = 3 };
#define NOT_FOR_TSAN
#endif

#ifdef HEARTH_UCX
enum { NODES = 1 };
#else
enum { NODES = 0 }; /* there is no network without MPI */
#endif

static inline void set(const char *name, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    setenv(name, text, 1);
}

#endif
