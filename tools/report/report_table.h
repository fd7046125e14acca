/* report_table.h: the sections of a report that are plain tables, for text and page alike. */
#ifndef HEARTH_TOOLS_REPORT_TABLE_H
#define HEARTH_TOOLS_REPORT_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "run/strvec.h"

/* Rows of cells, the first row being the heading; without columns there are only notes. Notes are sentences below. */
struct table {
    char *title;
    size_t columns;
    struct strvec cells;
    struct strvec notes;
};
struct tables {
    struct table *of;
    size_t count;
};

struct run;
/* All sections of this kind that the run has; to be freed. */
void report_tables(const struct run *run, struct tables *t);
void tables_free(struct tables *t);
void tables_text(FILE *f, const struct tables *t);

/* A new, empty table. It is valid until the next one is added. */
struct table *tables_add(struct tables *t, const char *title, size_t columns);
/* One row of as many cells as there are columns. */
void table_row(struct table *t, ...);
void table_note(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the sections; each adds nothing where the run has none ---- */

void report_served_tables(const struct run *run, struct tables *t);
void report_messages_tables(const struct run *run, struct tables *t);
void report_armci_tables(const struct run *run, struct tables *t);
void report_vgasnet_tables(const struct run *run, struct tables *t);
/* A row of five cells: kind, calls on the own node, calls to others, bytes, bytes of a call; none if there were no calls. */
struct calls_sum;
void report_calls_row(struct table *t, const char *kind, const struct calls_sum *c);

#endif
