/* settings.c: reads the settings from the environment. An invalid value never stops the program: the log line states the
 * error and the value used instead. */
#include "base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/number.h"

extern char **environ;

static const struct setting table[] = {
#define ENTRY(kind_, field, name_, fallback_, least_, most_, words_, help_, audience_)                       \
    {.name = name_,                                                                                          \
     .fallback = fallback_,                                                                                  \
     .words = words_,                                                                                        \
     .help = help_,                                                                                          \
     .kind = SETTING_##kind_,                                                                                \
     .audience = audience_,                                                                                  \
     .least = least_,                                                                                        \
     .most = most_,                                                                                          \
     .offset = offsetof(struct settings, field)},
#define SETTING(...)    ENTRY(__VA_ARGS__, FOR_USERS)
#define EXPERT(...)     ENTRY(__VA_ARGS__, FOR_EXPERTS)
#define EXPERIMENT(...) ENTRY(__VA_ARGS__, FOR_MEASUREMENTS)
#include "base/settings.def"
#undef ENTRY
};

enum { SETTINGS = sizeof table / sizeof table[0] };

static struct settings current;
static enum setting_source sources[SETTINGS];

const struct setting *settings_table(size_t *count) {
    *count = SETTINGS;
    return table;
}

const struct setting *settings_find(const char *name) {
    for (size_t i = 0; i < SETTINGS; i++)
        if (!strcmp(name, table[i].name))
            return &table[i];
    return NULL;
}

enum setting_source settings_source(size_t index) {
    settings_get();
    return sources[index];
}

int settings_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (int i = 0; words; i++) {
        const char *end = strchr(words, '|');
        size_t n = end ? (size_t)(end - words) : strlen(words);
        if (n == length && !strncasecmp(words, word, n))
            return i;
        words = end ? end + 1 : NULL;
    }
    return -1;
}

/* A number with an optional k, m or g; -1 if it is invalid. */
static double settings_parse_number(const char *text, double unit) {
    char *end;
    if (!*text || strspn(text, " \t\n"))
        return -1;
    double value = number_parse(text, &end);
    static const char suffixes[] = "kmg";
    const char *suffix = *end ? strchr(suffixes, *end | 0x20) : NULL;
    if (suffix && unit) {
        for (long i = suffix - suffixes; i >= 0; i--)
            value *= unit;
        end++;
    }
    return *end || end == text || value != value ? -1 : value;
}

static void describe_range(const struct setting *s, char *out, size_t room) {
    char least[32], most[32];
    number_print(s->least, 6, least, sizeof least);
    number_print(s->most, 6, most, sizeof most);
    if (s->kind == SETTING_choice)
        snprintf(out, room, "one of %s", s->words);
    else
        snprintf(out, room, "%s from %s to %s%s", s->kind == SETTING_real ? "a number" : "a whole number",
                 least, most, s->kind == SETTING_size ? ", in bytes or with k, m, g" : "");
}

static int store_number(const struct setting *s, const char *text, char *field) {
    double unit = s->kind == SETTING_size ? 1024 : s->kind == SETTING_count ? 1000 : 0;
    double value = settings_parse_number(text, unit);
    if (!(value >= s->least && value <= s->most))
        return -EINVAL;
    if (s->kind == SETTING_real) {
        *(double *)(void *)field = value;
        return 0;
    }
    if (value < 9e15 && value != (double)(uint64_t)value)
        return -EINVAL;
    /* Large seeds need all 64 bits, which a double does not have. */
    char *end;
    uint64_t exact = strtoull(text, &end, 10);
    *(uint64_t *)(void *)field = *end ? (uint64_t)value : exact;
    return 0;
}

static int store_choice(const struct setting *s, const char *text, char *field) {
    int position = settings_word(s->words, text);
    if (position < 0 && !strncmp(s->words, "off|on", 6) && (!strcmp(text, "0") || !strcmp(text, "1")))
        position = *text - '0';
    if (position < 0)
        return -EINVAL;
    *(int *)(void *)field = position;
    return 0;
}

static int store_levels(const struct setting *s, const char *text, char *field, char *why, size_t why_size) {
    char reason[400];
    int err = log_check_levels(text, reason, sizeof reason);
    if (err && why_size)
        snprintf(why, why_size, "%s=%.80s: %s", s->name, text, reason);
    else if (!err)
        *(const char **)(void *)field = text;
    return err;
}

/* 1 and - are what other programs take for stderr. */
static int store_file(const struct setting *s, const char *text, char *field, char *why, size_t why_size) {
    bool is_file = strcmp(text, "1") && strcmp(text, "-");
    if (!is_file && why_size)
        snprintf(why, why_size, "%s=%s names no file: write %s=run.json, which hearth report prints", s->name,
                 text, s->name);
    else if (is_file)
        *(const char **)(void *)field = text;
    return is_file ? 0 : -EINVAL;
}

int settings_parse(const struct setting *s, const char *text, struct settings *into, char *why,
                   size_t why_size) {
    char *field = (char *)into + s->offset, range[256];
    if (s->kind == SETTING_text) {
        *(const char **)(void *)field = text;
        return 0;
    }
    if (s->kind == SETTING_file)
        return store_file(s, text, field, why, why_size);
    if (s->kind == SETTING_levels)
        return store_levels(s, text, field, why, why_size);
    int err = s->kind == SETTING_choice ? store_choice(s, text, field) : store_number(s, text, field);
    if (err && why_size) {
        describe_range(s, range, sizeof range);
        snprintf(why, why_size, "%s=%.80s is not %s", s->name, text, range);
    }
    return err;
}

/* With the largest unit that divides it. */
static void print_number(uint64_t value, uint64_t unit, char *text, size_t room) {
    static const char suffixes[] = " kmg";
    int i = 0;
    for (; i < 3 && value && value % unit == 0; i++)
        value /= unit;
    snprintf(text, room, i ? "%" PRIu64 "%c" : "%" PRIu64, value, suffixes[i]);
}

static void print_word(const char *words, int position, char *text, size_t room) {
    for (; position > 0 && strchr(words, '|'); position--)
        words = strchr(words, '|') + 1;
    snprintf(text, room, "%.*s", (int)strcspn(words, "|"), words);
}

void settings_print(const struct setting *s, const struct settings *from, char *text, size_t room) {
    const void *field = (const char *)from + s->offset;
    switch (s->kind) {
    case SETTING_count:
        print_number(*(const uint64_t *)field, 1000, text, room);
        return;
    case SETTING_size:
        print_number(*(const uint64_t *)field, 1024, text, room);
        return;
    case SETTING_real:
        number_print(*(const double *)field, 15, text, room);
        return;
    case SETTING_choice:
        print_word(s->words, *(const int *)field, text, room);
        return;
    case SETTING_text:
    case SETTING_file:
    case SETTING_levels:
        snprintf(text, room, "%s", *(const char *const *)field);
    }
}

void settings_defaults(struct settings *into) {
    for (size_t i = 0; i < SETTINGS; i++)
        settings_parse(&table[i], table[i].fallback, into, NULL, 0);
}

static unsigned distance(const char *a, const char *b) { /* Levenshtein, one row */
    unsigned row[64];
    size_t n = strlen(b);
    if (n >= 64)
        return 64;
    for (unsigned j = 0; j <= n; j++)
        row[j] = j;
    for (unsigned i = 1; *a; a++, i++) {
        unsigned corner = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= n; j++) {
            unsigned cost = corner + (*a != b[j - 1]);
            corner = row[j];
            unsigned gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = cost < gap ? cost : gap;
        }
    }
    return row[n];
}

const struct setting *settings_nearest(const char *name) {
    const struct setting *best = NULL;
    size_t length = strlen(name), prefix = sizeof "HEARTH_" - 1;
    unsigned least =
        5; /* names further away are not taken for misspellings, nor those of which most differs */
    for (size_t i = 0; i < SETTINGS; i++) {
        unsigned d = distance(name, table[i].name);
        bool is_prefix = !strchr(table[i].name, '_'); /* HEARTH is near to every short name */
        if (d < least && 2 * d + prefix <= length && !is_prefix) {
            least = d;
            best = &table[i];
        }
    }
    return best;
}

/* ---- complaints ---- */

enum { COMPLAINTS = 16, COMPLAINT_BYTES = 512 };

static struct {
    bool is_held;
    unsigned count;
    char lines[COMPLAINTS][COMPLAINT_BYTES];
} complaints;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...) {
    va_list args;
    if (complaints.count == COMPLAINTS)
        return;
    va_start(args, format);
    vsnprintf(complaints.lines[complaints.count++], COMPLAINT_BYTES, format, args);
    va_end(args);
}

void settings_hold(void) {
    complaints.is_held = true;
}

uint32_t settings_complaints(void) {
    uint32_t code = 2166136261; /* FNV-1a */
    settings_get();
    for (unsigned i = 0; i < complaints.count; i++)
        for (const char *c = complaints.lines[i]; *c; c++)
            code = (code ^ (unsigned char)*c) * 16777619;
    return complaints.count ? code | 1 : 0;
}

void settings_complained(void) {
    complaints.count = 0;
}

void settings_complain(int ranks, int of) {
    char who[48] = "";
    if (ranks > 1 && ranks == of)
        snprintf(who, sizeof who, " (on all %d ranks)", of);
    else if (ranks > 0 && ranks < of)
        snprintf(who, sizeof who, " (on %d of %d ranks)", ranks, of);
    for (unsigned i = 0; i < complaints.count; i++)
        log_warn("%s%s", complaints.lines[i], who);
    settings_complained();
}

/* HEARTH_TEST_* belongs to the tests, HEARTH_UCX_* to UCX, which reads it itself. */
static void warn_of_unknown(void) {
    for (char **variable = environ; variable && *variable; variable++) {
        char name[64];
        size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, "HEARTH_", 7) || !strncmp(*variable, "HEARTH_TEST_", 12) ||
            !strncmp(*variable, "HEARTH_UCX_", 11) || length >= sizeof name)
            continue;
        memcpy(name, *variable, length);
        name[length] = 0;
        if (settings_find(name))
            continue;
        const struct setting *closest = settings_nearest(name);
        if (closest)
            complain("%s is not a setting of Hearth; did you mean %s?", name, closest->name);
        else
            complain("%s is not a setting of Hearth", name);
    }
}

/* The value in the environment, or NULL; empty counts as unset. */
static const char *variable_value(const char *name) {
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

bool settings_are_off(void) {
    struct settings only = {.hearth = true};
    const char *text = variable_value("HEARTH");
    return text && !settings_parse(settings_find("HEARTH"), text, &only, NULL, 0) && !only.hearth;
}

static void settings_tell(void) {
    for (size_t i = 0; i < SETTINGS && LOG_IS_ON(LOG_JOB, LOG_DEBUG); i++)
        if (sources[i] == SOURCE_ENVIRONMENT) {
            char value[256];
            settings_print(&table[i], &current, value, sizeof value);
            log_debug(LOG_JOB, "%s=%s, from the environment; the default is %s", table[i].name, value,
                      *table[i].fallback ? table[i].fallback : "empty");
        }
}

static void settings_load(void) {
    char why[512];
    settings_defaults(&current);
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *text = variable_value(table[i].name);
        if (!text)
            continue;
        if (settings_parse(&table[i], text, &current, why, sizeof why))
            complain(*table[i].fallback ? "%s; using the default, %s" : "%s", why, table[i].fallback);
        else
            sources[i] = SOURCE_ENVIRONMENT;
    }
    log_set_levels(current.log, NULL, 0);
    settings_tell();
    warn_of_unknown();
    if (!complaints.is_held)
        settings_complain(0, 0);
}

const struct settings *settings_get(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Atomic bool loaded; /* saves the call of pthread_once: MPI's atomics come through here */
    if (LIKELY(atomic_load_explicit(&loaded, memory_order_acquire)))
        return &current;
    pthread_once(&once, settings_load);
    atomic_store_explicit(&loaded, true, memory_order_release);
    return &current;
}

/* ---- file names ---- */

static char start_folder[PATH_MAX];

__attribute__((constructor)) static void start_folder_note(void) {
    if (!getcwd(start_folder, sizeof start_folder))
        start_folder[0] = 0;
}

void settings_path(const char *name, char *path, size_t room) {
    if (*name == '/' || !start_folder[0])
        snprintf(path, room, "%s", name);
    else
        snprintf(path, room, "%s/%s", start_folder, name);
}
