/* report_runs.h: the runs that a command names, in groups that are compared. A group is one configuration, run once or
 * several times.
 *
 *      a.json b.json                           two groups of one run
 *      a1.json,a2.json,a3.json b1.json,...     commas join the runs of a group
 *      a*.json : b*.json                       so does a lone colon between groups, for patterns of the shell
 */
#ifndef HEARTH_TOOLS_REPORT_RUNS_H
#define HEARTH_TOOLS_REPORT_RUNS_H

#include "report/report.h"

struct run_group {
    char name[8]; /* "A", "B", ... "Z", "27" */
    struct run *runs;
    size_t count;
};

struct run_groups {
    struct run_group *of;
    size_t count;
    char **paths; /* the names of the files, which runs refer to */
    size_t path_count;
};

/* Returns 0, or BAD_INPUT after logging an error. The caller frees them in both cases. */
int run_groups_read(char **arguments, int count, struct run_groups *groups);
void run_groups_free(struct run_groups *groups);

/* The runs of a group that did not reach MPI_Finalize: their times and counts are not comparable. */
size_t group_partial(const struct run_group *g);

/* The run of a group with the median run time, which represents the group where only one run can be drawn. */
const struct run *group_middle(const struct run_group *g);

/* A quantity over the runs of a group. */
struct range {
    double least, median, most;
    size_t count;
};
struct range range_of(const double *values, size_t count);

/* A difference is clear if there are enough runs of both, and their ranges do not overlap. */
enum { RUNS_ENOUGH = 3 };
bool range_is_apart(const struct range *a, const struct range *b);

#endif
