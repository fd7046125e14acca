/* report_compare_text.c: groups of runs as text, in the layout of report_text.c. */
#include <stdlib.h>
#include <string.h>

#include "report/report_compare.h"
#include "tools.h"

enum { LEAST_WIDTH = 100, NAME = 34, VALUE = 19, SPREAD = 25, CHANGE = 12 };

/* Prints a line without blanks at its end. Names come from programs; control characters would reach the terminal. */
static void compare_put_line(FILE *f, const char *text) {
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        length--;
    for (size_t i = 0; i < length; i++)
        putc((unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i], f);
    putc('\n', f);
}

static bool has_spreads(const struct comparison *c) {
    for (size_t i = 0; i < c->groups->count; i++)
        if (c->groups->of[i].count > 1)
            return true;
    return false;
}

/* Appends to a text that is to be freed. */
static void line_append(char **line, char *more) {
    char *longer = need_text("%s%s", *line, more);
    free(*line);
    free(more);
    *line = longer;
}

/* Appends the columns of a group. */
static void line_append_cell(const struct comparison *c, char **line, size_t group, const char *value,
                             const char *spread, const char *change) {
    line_append(line, need_text("%*s", VALUE, value));
    if (has_spreads(c))
        line_append(line, need_text("%*s", SPREAD, spread));
    if (group)
        line_append(line, need_text("   %-*s", CHANGE - 3, change));
}

static void compare_section(FILE *f, const struct comparison *c, const char *title) {
    int groups = (int)c->groups->count;
    int width = NAME + groups * (VALUE + (has_spreads(c) ? SPREAD : 0)) + (groups - 1) * CHANGE;
    width = width > LEAST_WIDTH ? width : LEAST_WIDTH;
    char *rule = need((size_t)width + 1), *text = need_text("@--- %s ", title);
    memset(rule, '-', (size_t)width);
    size_t length = strlen(text);
    line_append(&text, need_copy(length < (size_t)width ? rule + length : ""));
    putc('\n', f);
    compare_put_line(f, rule);
    compare_put_line(f, text);
    compare_put_line(f, rule);
    free(rule);
    free(text);
}

static void compare_heading(FILE *f, const struct comparison *c, const char *title) {
    char *line = need_text("%-*s", NAME, "");
    compare_section(f, c, title);
    for (size_t i = 0; i < c->groups->count; i++)
        line_append_cell(c, &line, i, c->groups->of[i].name, "min..max", "change");
    compare_put_line(f, line);
    free(line);
}

static void compare_row(FILE *f, const struct comparison *c, const struct compare_line *l) {
    char *line = need_text("%-*s", NAME, l->what);
    for (size_t i = 0; i < c->groups->count; i++)
        line_append_cell(c, &line, i, l->cells[i].median, l->cells[i].spread, l->cells[i].change);
    compare_put_line(f, line);
    free(line);
}

static void compare_field(FILE *f, const char *label, const char *value) {
    char *line = need_text("@ %-16s : %s", label, value);
    compare_put_line(f, line);
    free(line);
}

void report_text_comparison(FILE *f, const struct comparison *c) {
    fprintf(f, "@ hearth report: %zu group%s of runs\n", c->groups->count, c->groups->count == 1 ? "" : "s");
    for (size_t i = 0; i < c->groups->count; i++) {
        const struct run_group *g = &c->groups->of[i];
        for (size_t k = 0; k < g->count; k++) {
            compare_field(f, k ? "" : g->name, g->runs[k].path);
            if (g->runs[k].partial)
                compare_field(f, "  partial", g->runs[k].partial);
        }
        compare_field(f, "  command", g->runs[0].command);
        compare_field(f, "  start time", say_time(g->runs[0].begun));
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->lines[i].is_heading)
            compare_heading(f, c, c->lines[i].what);
        else
            compare_row(f, c, &c->lines[i]);
    compare_section(f, c, "In short");
    report_text_wrapped(f, c->verdict);
}
