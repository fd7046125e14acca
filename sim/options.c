/* options.c: parses the options of a simulation, prints --help, and prints the progress line. */
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void help(const struct option_entry *table, const char *program, const char *what) {
    const char *slash = strrchr(program, '/');
    printf("%s\n\nusage: %s [--OPTION VALUE]...\n\n", what, slash ? slash + 1 : program);
    for (; table->name; table++)
        printf("  --%-14s %s (%s)\n", table->name, table->help, *table->fallback ? table->fallback : "none");
}

static struct option_entry *find(struct option_entry *table, const char *name) {
    for (; table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    fprintf(stderr, "sim: no option --%s: see --help\n", name);
    exit(2);
}

void options_read(struct option_entry *table, int argc, char **argv, const char *what) {
    for (struct option_entry *o = table; o->name; o++)
        o->value = o->fallback;
    for (int i = 1; i < argc; i += 2) {
        if (!strcmp(argv[i], "--help")) {
            help(table, argv[0], what);
            exit(0);
        }
        if (strncmp(argv[i], "--", 2) || i + 1 == argc) {
            fprintf(stderr, "sim: %s: options read --NAME VALUE: see --help\n", argv[i]);
            exit(2);
        }
        find(table, argv[i] + 2)->value = argv[i + 1];
    }
}

const char *options_word(const struct option_entry *table, const char *name) {
    return find((struct option_entry *)table, name)->value;
}

double options_parse(const char *name, const char *text) {
    char *end;
    double number = strtod(text, &end);
    const char *units = "kmg", *unit = *end ? strchr(units, *end) : NULL;
    for (int i = 0; unit && i <= unit - units; i++)
        number *= 1024;
    if (end == text || number < 0 || (*end && (!unit || end[1]))) {
        fprintf(stderr, "sim: --%s %s: a number is wanted, such as 8, 0.5 or 16k\n", name, text);
        exit(2);
    }
    return number;
}

double options_number(const struct option_entry *table, const char *name) {
    return options_parse(name, options_word(table, name));
}

char *options_next(const char **at, char *buffer, unsigned room) {
    if (!**at)
        return NULL;
    size_t length = strcspn(*at, ",");
    if (length >= room)
        length = room - 1;
    memcpy(buffer, *at, length);
    buffer[length] = 0;
    *at += strcspn(*at, ",");
    *at += **at == ',';
    return buffer;
}

static bool is_shown(void) {
    return isatty(2) || getenv("SIM_PROGRESS");
}

void progress(const char *what, double share) {
    static time_t last;
    time_t now = time(NULL);
    if (now - last < 2 || !is_shown())
        return;
    last = now;
    fprintf(stderr, "\r%-60s %3.0f %% ", what, 100 * share);
    fflush(stderr);
}

void progress_end(void) {
    if (is_shown())
        fprintf(stderr, "\r%-70s\r", "");
}
