/* report_table.c: see report_table.h. */
#include "report/report_table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "tools.h"

struct table *tables_add(struct tables *t, const char *title, size_t columns) {
    t->of = list_grown(t->of, t->count, 1, sizeof *t->of);
    t->of[t->count] = (struct table){.title = need_copy(title), .columns = columns};
    return &t->of[t->count++];
}

void table_row(struct table *t, ...) {
    va_list args;
    va_start(args, t);
    for (size_t i = 0; i < t->columns; i++)
        strvec_add(&t->cells, va_arg(args, const char *));
    va_end(args);
}

void table_note(struct table *t, const char *format, ...) {
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    strvec_add(&t->notes, text);
}

void report_tables(const struct run *run, struct tables *t) {
    *t = (struct tables){0};
    report_served_tables(run, t);
    report_messages_tables(run, t);
    report_armci_tables(run, t);
    report_vgasnet_tables(run, t);
}

void tables_free(struct tables *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->of[i].title);
        strvec_free(&t->of[i].cells);
        strvec_free(&t->of[i].notes);
    }
    free(t->of);
    *t = (struct tables){0};
}

/* ---- as text ---- */

/* In characters; cells may hold narrow spaces. */
static int cell_width(const char *cell) {
    int n = 0;
    for (; *cell; cell++)
        n += (*cell & 0xc0) != 0x80;
    return n;
}

static int column_width(const struct table *t, size_t column) {
    int most = 0;
    for (size_t i = column; i < t->cells.count; i += t->columns) {
        int width = cell_width(t->cells.of[i]);
        most = width > most ? width : most;
    }
    return most;
}

/* The first column is flush left, the others are numbers. */
static void cell_text(FILE *f, const char *cell, int width, bool is_first) {
    int blanks = width - cell_width(cell);
    if (is_first)
        report_text_name(f, cell);
    fprintf(f, "%*s", blanks > 0 ? blanks : 0, "");
    if (!is_first)
        report_text_name(f, cell);
}

static void table_text(FILE *f, const struct table *t) {
    report_text_section(f, t->title);
    for (size_t row = 0; t->columns && row < t->cells.count / t->columns; row++) {
        for (size_t i = 0; i < t->columns; i++) {
            if (i)
                fputs("  ", f);
            cell_text(f, t->cells.of[row * t->columns + i], column_width(t, i), i == 0);
        }
        putc('\n', f);
    }
    for (size_t i = 0; i < t->notes.count; i++)
        report_text_wrapped(f, t->notes.of[i]);
}

void tables_text(FILE *f, const struct tables *t) {
    for (size_t i = 0; i < t->count; i++)
        table_text(f, &t->of[i]);
}
