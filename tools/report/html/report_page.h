/* report_page.h: the parts of a page: text that cannot become markup, charts that need no script. */
#ifndef HEARTH_TOOLS_REPORT_PAGE_H
#define HEARTH_TOOLS_REPORT_PAGE_H

#include "report/report.h"

/* Prints escaped text: names of windows and files are untrusted. */
void page_text(FILE *f, const char *text);
void page_begin(FILE *f, const char *title);
void page_style(FILE *f);
void page_end(FILE *f);

/* A section, and a note in it that explains missing data. */
void page_section(FILE *f, const char *id, const char *title);
void page_section_end(FILE *f);
void page_missing(FILE *f, const char *why);

/* A table that scrolls in its own frame where it is wider than the page; what: its name for screen readers. */
void page_table(FILE *f, const char *what);
void page_table_end(FILE *f);

/* Cells of a table; the attribute data-NAME has the exact value. */
void cell_count(FILE *f, const char *name, uint64_t value);
void cell_bytes(FILE *f, const char *name, uint64_t value);
void cell_ratio(FILE *f, const char *name, double value);
void cell_seconds(FILE *f, const char *name, double value);
void cell_text(FILE *f, const char *text);

/* Sections about ranks (report_html_ranks.c). */
void html_calls(FILE *f, const struct run *run);
void html_mpi_ranks(FILE *f, const struct run *run);
void html_ranks(FILE *f, const struct run *run);
/* Plain tables (report_html_tables.c). */
void html_tables(FILE *f, const struct run *run);

/* The charts; each says what was not recorded. */
void chart_hit_map(FILE *f, const struct run *run, const struct grid *g);
void chart_byte_map(FILE *f, const struct run *run, const struct grid *g);
void chart_levels(FILE *f, const struct run *run, const struct grid *g);
void chart_regions(FILE *f, const struct run *run, const struct grid *g);
void chart_sizes(FILE *f, const struct run *run);

/* The axis of cache sizes, as powers of two; charts that are compared share one. */
struct size_span {
    bool is_there;
    int low, high;
};
struct size_span chart_curve_span(const struct run *run);
struct size_span size_span_join(struct size_span a, struct size_span b);
void chart_curves(FILE *f, const struct run *run, struct size_span axis);

/* Stacked bars (report_bars.c): outcomes of gets by window; time in MPI by rank and call, grouped by node. */
void chart_types(FILE *f, const struct run *run);
void chart_mpi(FILE *f, const struct run *run);
void bars_legend_types(FILE *f);
void bars_types(FILE *f, const char *name, const struct counts *c);
void bars_axis(FILE *f, double seconds);
/* Where the axis of times in MPI ends: at the run time, or at the longest of them if that is more, as threads add up, or so
 * little that bars would be invisible. */
double bars_mpi_axis(double seconds, double longest);
void bars_part(FILE *f, double *at, double seconds, double axis, int series, const char *row,
               const char *call);

#endif
