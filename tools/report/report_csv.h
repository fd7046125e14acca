/* report_csv.h: runs as CSV, for spreadsheets and scripts. */
#ifndef HEARTH_TOOLS_REPORT_CSV_H
#define HEARTH_TOOLS_REPORT_CSV_H

#include "report/report_runs.h"

/* The tables, to be combined with |. */
enum csv_table { CSV_RANKS = 1, CSV_WINDOWS = 2, CSV_CALLS = 4, CSV_TARGETS = 8, CSV_ALL = 15 };

/* The table of this name; 0 if there is none. NULL: all. */
unsigned csv_table(const char *name);

void report_csv(FILE *file, const struct run_groups *groups, unsigned tables);

#endif
