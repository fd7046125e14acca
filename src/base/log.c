/* log.c: formats a line on the stack and writes it with one write(2): no lock, no allocation, usable when memory has
 * run out. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { LEVELS = LOG_TRACE + 1, GENERAL = LOG_AREAS /* lines without an area */ };

static const char *const level_names[LEVELS] = {"error", "warning", "info", "debug", "trace"};
static const char *const level_words[LEVELS] = {"error", "warn", "info", "debug", "trace"};
static const char *const area_words[LOG_AREAS] = {
#define LOG_AREA(name, word, what) [LOG_##name] = #word,
    LOG_AREA_LIST(LOG_AREA)
#undef LOG_AREA
};

static _Atomic int own_rank = -1;
/* Written once, when the settings are read, and read without order: a line more or less does not matter. */
_Alignas(64) int8_t log_levels[64] = {[0 ... GENERAL] = LOG_WARN};

void log_identify(int rank) {
    atomic_store_explicit(&own_rank, rank, memory_order_relaxed);
}

bool log_is_first_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
    int rank = atomic_load_explicit(&own_rank, memory_order_relaxed);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && rank < 0; i++) {
        const char *text = getenv(names[i]);
        if (text)
            return strcmp(text, "0") == 0;
    }
    return rank <= 0;
}

/* ---- levels ---- */

void log_set_level(enum log_level level) {
    for (int i = 0; i <= GENERAL; i++)
        __atomic_store_n(&log_levels[i], (int8_t)level, __ATOMIC_RELAXED);
}

static int word_find(const char *const words[], int count, const char *word, size_t length) {
    for (int i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return i;
    return -1;
}

static int word_refuse(const char *word, size_t length, const char *what, const char *const words[],
                       int count, char *why, size_t room) {
    size_t used = 0;
    if (room)
        used =
            (size_t)snprintf(why, room, "'%.*s' is not %s: ", (int)(length < 40 ? length : 40), word, what);
    for (int i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(why + used, room - used, "%s%s",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 words[i]);
    return -EINVAL;
}

/* One item, LEVEL or AREA:LEVEL. */
static int item_parse(const char *item, size_t length, int levels[], char *why, size_t room) {
    const char *colon = memchr(item, ':', length), *word = colon ? colon + 1 : item;
    size_t word_length = length - (size_t)(word - item);
    int area = colon ? word_find(area_words, LOG_AREAS, item, (size_t)(colon - item)) : GENERAL;
    int level = word_find(level_words, LEVELS, word, word_length);
    if (area < 0)
        return word_refuse(item, (size_t)(colon - item), "an area", area_words, LOG_AREAS, why, room);
    if (level < 0)
        return word_refuse(word, word_length, colon ? "a level" : "a level, and AREA:LEVEL has a colon",
                           level_words, LEVELS, why, room);
    levels[area] = level;
    return 0;
}

/* Levels of areas that are not named: -1. */
static int levels_parse(const char *text, int levels[], char *why, size_t room) {
    int err = 0;
    for (int i = 0; i < GENERAL; i++)
        levels[i] = -1;
    levels[GENERAL] = LOG_WARN;
    for (const char *item = text; !err; item++) {
        size_t length = strcspn(item, ",");
        err = item_parse(item, length, levels, why, room);
        item += length;
        if (!*item)
            break;
    }
    return err;
}

int log_check_levels(const char *text, char *why, size_t why_size) {
    int levels[LOG_AREAS + 1];
    return levels_parse(text, levels, why, why_size);
}

int log_set_levels(const char *text, char *why, size_t why_size) {
    int levels[LOG_AREAS + 1], err = levels_parse(text, levels, why, why_size);
    for (int i = 0; i <= GENERAL && !err; i++)
        __atomic_store_n(&log_levels[i], (int8_t)(levels[i] < 0 ? levels[GENERAL] : levels[i]),
                         __ATOMIC_RELAXED);
    return err;
}

/* ---- lines ---- */

static int log_print_head(char *line, size_t room, enum log_level level) {
    int rank = atomic_load_explicit(&own_rank, memory_order_relaxed);
    if (rank < 0)
        return snprintf(line, room, "hearth: %s: ", level_names[level]);
    return snprintf(line, room, "hearth[%d]: %s: ", rank, level_names[level]);
}

static void log_write(enum log_level level, const char *area, const char *format, va_list args) {
    char line[1024];
    int head = log_print_head(line, sizeof line, level);
    if (area)
        head += snprintf(line + head, sizeof line - (size_t)head, "%s: ", area);
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    size_t length = (size_t)head + (body > 0 ? (size_t)body : 0);
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* there is no other place to report it */
}

void log_print(enum log_level level, const char *format, ...) {
    va_list args;
    if ((int)level > __atomic_load_n(&log_levels[GENERAL], __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    log_write(level, NULL, format, args);
    va_end(args);
}

void log_print_of(enum log_area area, enum log_level level, const char *format, ...) {
    int error = errno; /* the caller may still need it */
    va_list args;
    va_start(args, format);
    log_write(level, area_words[area], format, args);
    va_end(args);
    errno = error;
}

void log_assertion_failed(const char *what, const char *file, int line, const char *function) {
    log_error("%s:%d, %s: this does not hold: %s; please report it", file, line, function, what);
    log_settle();
    abort();
}

/* FIONREAD reports the unread bytes at both ends of a pipe; a file or a terminal takes everything immediately. */
void log_settle(void) {
    enum { MOST_MS = 1000 };
    int unread = 0;
    for (int ms = 0; ms < MOST_MS && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; ms++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
