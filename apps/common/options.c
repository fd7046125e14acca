/* options.c: parses the command line with two tables: the program's own options, and the options of all
 * programs.
 *
 * getopt_long_only splits words and handles abbreviations and "--name=value". It returns FIRST plus the
 * option's index in the concatenation of both tables. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/inside.h"

enum { MOST_OPTIONS = 64, FIRST = 256 /* beyond the letters that getopt returns */ };

static const char *const styles[] = {"auto", "line", "lines", "none", NULL};

const struct app_option app_manner_options[] = {
    {"progress", "STYLE", "line (rewritten in place), lines, none or auto", APP_WORD,
     .offset = offsetof(struct app_manner, progress), .words = styles},
    {"quiet", NULL, "print nothing but errors", APP_SWITCH, .offset = offsetof(struct app_manner, quiet)},
    {"json", "FILE", "write the results to FILE", APP_TEXT, .offset = offsetof(struct app_manner, json)},
    {"help", NULL, "print this", APP_SWITCH, .offset = offsetof(struct app_manner, help)},
    {0}};

static bool speaks; /* this is rank 0 */

int app_reject(const char *format, ...) {
    char reason[512];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (speaks)
        app_complain("%s", reason);
    return APP_BAD_INPUT;
}

int app_parse_count(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n < least || n > most)
        return app_reject("--%s '%s': must be a whole number from %" PRIu64 " to %" PRIu64, name, text, least,
                          most);
    *value = n;
    return APP_OK;
}

int app_parse_size(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    static const char units[] = "kmg";
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!isdigit((unsigned char)*text) || errno || (*end && (!unit || end[1])) || n > most >> shift ||
        n << shift < least)
        return app_reject("--%s '%s': must be a size from %" PRIu64 " to %" PRIu64
                          " bytes, k, m or g at the end",
                          name, text, least, most);
    *value = n << shift;
    return APP_OK;
}

int app_parse_real(const char *name, const char *text, double least, double most, double *value) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        return app_reject("--%s '%s': must be a number from %g to %g", name, text, least, most);
    *value = number;
    return APP_OK;
}

static void append(char *text, size_t room, const char *more) {
    size_t length = strlen(text);
    snprintf(text + length, room - length, "%s", more);
}

int app_parse_word(const char *name, const char *text, const char *const *words, int *position) {
    char all[256] = "";
    for (int i = 0; words[i]; i++) {
        if (!strcmp(words[i], text)) {
            *position = i;
            return APP_OK;
        }
        append(all, sizeof all, i ? ", " : "");
        append(all, sizeof all, words[i]);
    }
    return app_reject("--%s '%s': must be one of %s", name, text, all);
}

static int apply(const struct app_option *o, const char *text, void *at, void *options) {
    switch (o->kind) {
    case APP_SWITCH:
        *(bool *)at = true;
        return APP_OK;
    case APP_COUNT:
        return app_parse_count(o->name, text, o->least, o->most, at);
    case APP_SIZE:
        return app_parse_size(o->name, text, o->least, o->most, at);
    case APP_REAL:
        return app_parse_real(o->name, text, o->real_least, o->real_most, at);
    case APP_WORD:
        return app_parse_word(o->name, text, o->words, at);
    case APP_TEXT:
        *(const char **)at = text;
        return APP_OK;
    case APP_OWN:
        return o->parse(o, text, at, options);
    }
    return APP_BAD_INPUT;
}

/* Converts both tables for getopt; returns the number of the program's own options. */
static size_t list(const struct app *app, struct option *rows) {
    size_t own = 0, n = 0;
    while (app->options[own].name)
        own++;
    for (const struct app_option *o = app->options; n < MOST_OPTIONS; o++) {
        if (n == own)
            o = app_manner_options;
        if (!o->name)
            break;
        rows[n] = (struct option){o->name, o->kind == APP_SWITCH ? no_argument : required_argument, NULL,
                                  FIRST + (int)n};
        n++;
    }
    rows[n] = (struct option){0};
    return own;
}

static int apply_place(const struct app *app, size_t place, size_t own, void *options) {
    const struct app_option *o = place < own ? &app->options[place] : &app_manner_options[place - own];
    char *base = place < own ? options : (char *)options + app->manner;
    return apply(o, optarg, base + o->offset, options);
}

static int refuse(int letter, const char *word) {
    if (letter == ':')
        return app_reject("option '%s' needs a value (see --help)", word);
    return app_reject("option '%s' is not known, is ambiguous, or takes no value (see --help)", word);
}

static int read_line(const struct app *app, int argc, char **argv, void *options) {
    struct option rows[MOST_OPTIONS + 1];
    size_t own = list(app, rows);
    int letter, code = APP_OK;
    opterr = 0;
    /* _only: optind is then past the offending word, whether or not it had two dashes */
    while (!code && (letter = getopt_long_only(argc, argv, ":", rows, NULL)) != -1)
        code = letter < FIRST ? refuse(letter, argv[optind - 1])
                              : apply_place(app, (size_t)(letter - FIRST), own, options);
    if (!code && optind < argc)
        code = app_reject("'%s': not an option (see --help)", argv[optind]);
    return code;
}

/* The help is formatted before anything is parsed, while the options still hold their defaults. */
int app_parse(const struct app *app, int argc, char **argv, int rank, void *options) {
    const struct app_manner *manner = (void *)((char *)options + app->manner);
    char *help = NULL;
    speaks = rank == 0;
    app_set_name(app->name);
    if (speaks)
        help = app_help(app, options);
    int code = read_line(app, argc, argv, options);
    if (!code && manner->help && help)
        fputs(help, stdout);
    free(help);
    return code;
}
