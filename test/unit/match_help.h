/* match_help.h: an engine of each structure for tests, and one-line operations on it. Receives and messages are
 * identified by numbers. */
#ifndef HEARTH_TEST_MATCH_HELP_H
#define HEARTH_TEST_MATCH_HELP_H

#include <errno.h>
#include <stdio.h>

#include "match/engine/engine.h"

/* Runs before the settings are read. In tests that are not about the heater, it would only occupy a core. */
#ifndef TEST_HEATER
#define TEST_HEATER "off"
#endif
__attribute__((constructor)) static void choose_heater(void) {
    setenv("HEARTH_HEATER", TEST_HEATER, 1);
    setenv("HEARTH_HEATER_US", "1", 1);
    setenv("HEARTH_HEATER_MAX", "64m", 1);
}

enum { ANY = -1, NONE = 0, QUEUED = 0, FOUND_NULL = -1000000 };

static struct match *engine;
static match_entry last_entry; /* of the receive queued last */

static const char *const structures[] = {"list",   "lla-2",  "lla-4",  "lla",
                                         "lla-16", "lla-32", "lla-64", "fast"};
enum { STRUCTURES = sizeof structures / sizeof *structures };

static inline void open_engine(const char *structure, bool heated) {
    struct match_options options = {.heated = heated};
    expect_eq(match_parse(structure, &options), 0);
    engine = NULL;
    expect_eq(match_open(&options, &engine), 0);
}

static inline void close_engine(void) {
    match_check(engine);
    match_close(engine);
}

/* Runs the test on each structure, with its memory from the heap and from a pool. */
static inline void on_each(void (*test)(void)) {
    for (unsigned i = 0; i < 2 * STRUCTURES; i++) {
        open_engine(structures[i / 2], i % 2);
        unsigned before = test_failures;
        test();
        if (test_failures != before)
            printf("... with %s%s\n", structures[i / 2], i % 2 ? ", heated" : "");
        close_engine();
    }
}

#define ON_EACH(name)                                                                                        \
    static void name##_run(void);                                                                            \
    TEST(name)                                                                                               \
    { on_each(name##_run); }                                                                                 \
    static void name##_run(void)

/* The item that was found, NONE, or FOUND_NULL, which is an error, as no test queues NULL. */
static inline long found(int result, void *message) {
    return result == 0 ? NONE : message ? (long)message : FOUND_NULL;
}

/* The message that the receive matched, QUEUED, or an error. */
static inline long post(int32_t source, int32_t tag, uint32_t context, long name) {
    void *message = NULL;
    int result = match_post(engine, source, tag, context, (void *)name, &last_entry, &message);
    return result < 0 ? result : found(result, message);
}

/* The receive that the message matched, QUEUED, or an error. */
static inline long arrive(int32_t source, int32_t tag, uint32_t context, long name) {
    void *receive = NULL;
    int result = match_arrive(engine, source, tag, context, (void *)name, &receive);
    return result < 0 ? result : found(result, receive);
}

static inline long probe(int32_t source, int32_t tag, uint32_t context) {
    void *message = NULL;
    int result = match_probe(engine, source, tag, context, &message);
    return found(result, message);
}

static inline long take(int32_t source, int32_t tag, uint32_t context) {
    void *message = NULL;
    int result = match_take(engine, source, tag, context, &message);
    return found(result, message);
}

static inline struct match_counters counters(void) {
    struct match_counters c;
    match_counters(engine, &c);
    return c;
}

#endif
