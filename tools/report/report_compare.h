/* report_compare.h: groups of runs, line by line. The first group is the one that the others are compared with. */
#ifndef HEARTH_TOOLS_REPORT_COMPARE_H
#define HEARTH_TOOLS_REPORT_COMPARE_H

#include "report/report_runs.h"

struct compare_cell {
    char *median, *spread; /* spread: "" if all runs agree, or for a text */
    char *change;          /* from the first group: "", or "not clear" unless the ranges are apart */
    struct range range;    /* count 0: a text, or nothing to measure */
};

struct compare_line {
    char *what;
    bool is_heading;
    struct compare_cell *cells; /* one per group; NULL for a heading */
};

struct comparison {
    const struct run_groups *groups;
    struct compare_line *lines;
    size_t count;
    char *verdict;
};

void report_compare(const struct run_groups *groups, struct comparison *c);
void comparison_free(struct comparison *c);

/* The functions in which a rank of any group spends most time, to be freed; and that time, in a run. */
const char **compare_calls(const struct run_groups *groups, size_t most, size_t *count);
double compare_call_seconds(const struct run *run, const char *call);

void report_text_comparison(FILE *file, const struct comparison *c);
void report_html_comparison(FILE *file, const struct comparison *c);

#endif
