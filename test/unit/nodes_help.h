/* nodes_help.h: for tests that run the processes of whole jobs, of one or several nodes: how many there may be, settings,
 * and what ThreadSanitizer should know. */
#ifndef HEARTH_TEST_NODES_HELP_H
#define HEARTH_TEST_NODES_HELP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __SANITIZE_THREAD__
enum { NODE_MOST = 1 }; /* processes: it does not see that one orders what two threads of another do */

/* The program's own words, in a function that is not looked at: that a page is mapped under them is no write, as it has
 * it. */
#define NOT_FOR_TSAN __attribute__((noinline, no_sanitize_thread))

/* The program reads what it writes at the same time, and a page that comes home again while it is written to the NVM is
 * written once more after that; our own words round the copies are looked at. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) {
    return "race:^copy$\nrace:^small_serve$\nrace:^small_apply$\nrace:^keep_behind$\n";
}

/* Long enough to know who it was. */
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
