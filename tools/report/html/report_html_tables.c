/* report_html_tables.c: the sections of a page that are plain tables: served windows, messages, ARMCI, vGASNet. */
#include <stdio.h>

#include "report/html/report_page.h"
#include "report/report_table.h"

/* The first column is text, the others are numbers. */
static void table_cells(FILE *f, const struct table *t, size_t row) {
    const char *kind = row ? "td" : "th";
    fputs("<tr>", f);
    for (size_t i = 0; i < t->columns; i++) {
        fprintf(f, "<%s%s>", kind, i ? "" : " class=\"text\"");
        page_text(f, t->cells.of[row * t->columns + i]);
        fprintf(f, "</%s>", kind);
    }
    fputs("</tr>\n", f);
}

void html_tables(FILE *f, const struct run *run) {
    struct tables tables;
    report_tables(run, &tables);
    for (size_t i = 0; i < tables.count; i++) {
        const struct table *t = &tables.of[i];
        fputs("<section class=\"table\">\n<h2>", f);
        page_text(f, t->title);
        fputs("</h2>\n", f);
        if (t->columns) {
            page_table(f, t->title);
            for (size_t row = 0; row < t->cells.count / t->columns; row++)
                table_cells(f, t, row);
            page_table_end(f);
        }
        for (size_t k = 0; k < t->notes.count; k++) {
            fputs("<p>", f);
            page_text(f, t->notes.of[k]);
            fputs("</p>\n", f);
        }
        page_section_end(f);
    }
    tables_free(&tables);
}
