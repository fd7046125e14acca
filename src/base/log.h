/* log.h: one line per event, on stderr: "hearth[rank]: error: what failed, on which object, why, what to do". Lines of diagnosis have an
 * area, "hearth[rank]: debug: net: what was decided, for which object, why", and each area its own level. */
#ifndef HEARTH_LOG_H
#define HEARTH_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE };

/* What an area is about, for the documentation (doc/diagnose.md): doc/settings.sh and the parser read this list. */
#define LOG_AREA_LIST(AREA)                                                                                  \
    AREA(JOB, job, "start and end of the job, what all ranks agree on, settings")                            \
    AREA(CACHE, cache, "caches of gets: admission, suspension, sizes, what ends reuse")                      \
    AREA(WINDOWS, windows, "windows: which are served, and how their operations reach the target")           \
    AREA(MESSAGES, messages, "messages: the path of each, communicators, pre-barriers")                      \
    AREA(MATCH, match, "queues of receives and of unexpected messages")                                      \
    AREA(NET, net, "connections, helpers, credits, shared memory")                                           \
    AREA(PAGES, pages, "pages: protocol, eviction, writing back, checkpoints")                               \
    AREA(ARMCI, armci, "ARMCI")                                                                              \
    AREA(GAS, gas, "GASNet")                                                                                 \
    AREA(REPORT, report, "reports and live counters")                                                        \
    AREA(HEATER, heater, "the heater thread")

enum log_area {
#define LOG_AREA(name, word, what) LOG_##name,
    LOG_AREA_LIST(LOG_AREA)
#undef LOG_AREA
        LOG_AREAS
};

/* Lines of an area above its level are not printed. One cache line, which nothing else writes. */
extern int8_t log_levels[64];
_Static_assert(LOG_AREAS < 64, "one byte is left for lines without an area");

/* Sets the rank of this process, once known; -1 before. */
void log_identify(int rank);

/* Whether this process is rank 0 of its job: from log_identify, before that from the launcher's variables; true if
 * neither is known. For lines that concern the job as a whole. */
bool log_is_first_rank(void);

/* Lines above this level are not printed, in all areas. Default: warn. */
void log_set_level(enum log_level level);

/* Sets the levels from text, "net:trace,cache:debug,warn": AREA:LEVEL for one area, LEVEL for all others and for lines without an area.
 * Returns 0, or -EINVAL with the reason, which lists what is possible, in `why`, and changes nothing. */
int log_set_levels(const char *text, char *why, size_t why_size);
/* The same, but changes nothing in any case. */
int log_check_levels(const char *text, char *why, size_t why_size);

/* Prints one line in one write, so that lines of different ranks do not mix. */
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, of an area whose level was compared already. */
void log_print_of(enum log_area area, enum log_level level, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* Waits until the reader of stderr has taken all lines, for a second at most: launchers discard what is still in the
 * pipe when a job is aborted. Call before a process aborts a job, not before it merely exits. */
void log_settle(void);

#define log_error(...) log_print(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_print(LOG_WARN, __VA_ARGS__)

/* A line that is not printed costs one branch, which is predicted. */
#define LOG_IS_ON(area, level) __builtin_expect(log_levels[area] >= (level), 0)
#define LOG_LINE(area, level, ...)                                                                           \
    do {                                                                                                     \
        if (LOG_IS_ON(area, level))                                                                          \
            log_print_of(area, level, __VA_ARGS__);                                                          \
    } while (0)
#define log_info(area, ...)  LOG_LINE(area, LOG_INFO, __VA_ARGS__)
#define log_debug(area, ...) LOG_LINE(area, LOG_DEBUG, __VA_ARGS__)
#define log_trace(area, ...) LOG_LINE(area, LOG_TRACE, __VA_ARGS__)

/* States an invariant where it could break. In trees without NDEBUG, which are those with sanitizers and for coverage, a broken
 * one ends the process with a line. Others do not evaluate it, so it must have no effect. */
#ifdef NDEBUG
#define ASSERT(x) ((void)sizeof((x) ? 1 : 0))
#else
#define ASSERT(x)                                                                                            \
    (__builtin_expect(!!(x), 1) ? (void)0 : log_assertion_failed(#x, __FILE__, __LINE__, __func__))
#endif
_Noreturn void log_assertion_failed(const char *what, const char *file, int line, const char *function)
    __attribute__((cold));

#endif
