/* tune_decide.h: which of several settings is clearly faster, from the times of their runs. Pure functions. */
#ifndef HEARTH_TOOLS_TUNE_DECIDE_H
#define HEARTH_TOOLS_TUNE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The median of some times, and an interval that contains the median of all possible runs. */
struct tune_interval {
    double low, median, high;
    double coverage; /* the probability of that, whatever the distribution of the times */
};

/* count > 0. Does not change the times. */
struct tune_interval tune_interval(const double *seconds, size_t count);

/* Whether the intervals are apart, and the gain is worth a setting. */
bool tune_is_faster(const struct tune_interval *a, const struct tune_interval *b);

/* The same for runs that were made in turn, on a machine whose load changes: a[i] and b[i] are of the same round. Whether the
 * interval of the ratios a[i] / b[i] lies clearly below 1. */
bool tune_is_faster_in_turn(const double *a, const double *b, size_t rounds);

/* Whether it is certainly not faster, so that further runs are not worth their time. */
bool tune_is_slower(const struct tune_interval *a, const struct tune_interval *b);

#endif
