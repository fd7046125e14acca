/* report_page.h: the parts of a page: text that cannot become markup, charts that need no script. */
#ifndef HEARTH_TOOLS_REPORT_PAGE_H
#define HEARTH_TOOLS_REPORT_PAGE_H

#include "report/report.h"

/* Prints escaped text: names of windows and files are untrusted. */
void page_text(FILE *f, const char *text);
void page_begin(FILE *f, const char *title);
void page_end(FILE *f);

/* A section, and a note in it that explains missing data. */
void page_section(FILE *f, const char *id, const char *title);
void page_section_end(FILE *f);
void page_missing(FILE *f, const char *why);

/* The charts; each says what was not recorded. */
void chart_hit_map(FILE *f, const struct run *run, const struct grid *g);
void chart_byte_map(FILE *f, const struct run *run, const struct grid *g);
void chart_levels(FILE *f, const struct run *run, const struct grid *g);
void chart_regions(FILE *f, const struct run *run, const struct grid *g);
void chart_types(FILE *f, const struct run *run);
void chart_sizes(FILE *f, const struct run *run);
void chart_curves(FILE *f, const struct run *run);

#endif
