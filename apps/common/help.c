/* help.c: prints --help from the option table: a column of names, and beside it the wrapped help texts. */
#include <inttypes.h>
#include <string.h>

#include "common/inside.h"

enum { WIDTH = 100, NAME_LEAST = 14, NAME_MOST = 26 };

static size_t name_length(const struct app_option *o) {
    return strlen("--") + strlen(o->name) + (o->value ? 1 + strlen(o->value) : 0);
}

static size_t longest_name(const struct app_option *o, size_t longest) {
    for (; o->name; o++)
        if (name_length(o) > longest)
            longest = name_length(o);
    return longest < NAME_MOST ? longest : NAME_MOST;
}

static void print_size(char *text, size_t room, uint64_t bytes) {
    static const char units[] = "kmg";
    int unit = -1;
    while (unit < 2 && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, room, "%" PRIu64 "%.*s", bytes, unit >= 0, unit >= 0 ? units + unit : "");
}

/* The default as text, or "" if there is none to print. */
static void print_default(const struct app_option *o, const void *at, char *text, size_t room) {
    *text = 0;
    if (o->fallback)
        snprintf(text, room, "%s", o->fallback);
    else if (o->kind == APP_COUNT)
        snprintf(text, room, "%" PRIu64, *(const uint64_t *)at);
    else if (o->kind == APP_SIZE)
        print_size(text, room, *(const uint64_t *)at);
    else if (o->kind == APP_REAL)
        snprintf(text, room, "%g", *(const double *)at);
    else if (o->kind == APP_WORD)
        snprintf(text, room, "%s", o->words[*(const int *)at]);
    else if (o->kind == APP_TEXT && *(const char *const *)at)
        snprintf(text, room, "%s", *(const char *const *)at);
}

/* Prints text wrapped at WIDTH, starting at the given column; leaves the cursor at the start of a line. */
static void print_wrapped(FILE *to, const char *text, size_t column) {
    size_t at = column;
    while (*text) {
        size_t word = strcspn(text, " ");
        if (at > column && at + 1 + word > WIDTH) {
            fprintf(to, "\n%*s", (int)column, "");
            at = column;
        }
        at += (size_t)fprintf(to, "%s%.*s", at > column ? " " : "", (int)word, text);
        text += word + (text[word] == ' ');
    }
    fputc('\n', to);
}

static void print_option(FILE *to, const struct app_option *o, const void *defaults, size_t names) {
    char text[1024], fallback[128];
    print_default(o, (const char *)defaults + o->offset, fallback, sizeof fallback);
    snprintf(text, sizeof text, "%s%s%s%s", o->help, *fallback ? " (default " : "", fallback,
             *fallback ? ")" : "");
    fprintf(to, "  --%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    if (name_length(o) > names)
        fprintf(to, "\n%*s", (int)names + 4, "");
    else
        fprintf(to, "%*s", (int)(names + 2 - name_length(o)), "");
    print_wrapped(to, text, names + 4);
}

static void print_all(FILE *to, const struct app *app, const void *defaults) {
    size_t names = longest_name(app_manner_options, longest_name(app->options, NAME_LEAST));
    fprintf(to, "Usage: mpirun -n RANKS %s [options]\n%s\n\n", app->name, app->about);
    for (const struct app_option *o = app->options; o->name; o++)
        print_option(to, o, defaults, names);
    for (const struct app_option *o = app_manner_options; o->name; o++)
        print_option(to, o, (const char *)defaults + app->manner, names);
    if (app->remarks)
        fprintf(to, "\n%s\n", app->remarks);
    fprintf(to, "\nExit code: 0 done, 1 failed or wrong result, 2 bad input.\n");
}

char *app_help(const struct app *app, const void *defaults) {
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    print_all(to, app, defaults);
    fclose(to);
    return text;
}
