/* report_matrix.h: one-sided operations and messages by origin and target. */
#ifndef HEARTH_TOOLS_REPORT_MATRIX_H
#define HEARTH_TOOLS_REPORT_MATRIX_H

#include "report/report.h"

/* What one rank did with one other. */
struct flow {
    uint64_t rank, target, gets, get_bytes, puts, put_bytes, messages, message_bytes;
    double seconds; /* in calls that name the other one; an estimate */
};

struct flows {
    bool is_there; /* at least one rank recorded its targets */
    struct flow *of;
    size_t count;
    struct flow others;     /* sum over the pairs that are not listed */
    uint64_t other_targets; /* number of those pairs */
};
struct flows run_flows(const struct run *run);
void flows_free(struct flows *f);
uint64_t flow_bytes(const struct flow *f);

/* Whether the member "targets" of a process, if any, is complete. */
bool flows_are_valid(const struct json_value *process);

/* The section of a page. */
void html_matrix(FILE *f, const struct run *run);

#endif
