/* report_matrix.h: one-sided operations and messages by origin and target. */
#ifndef HEARTH_TOOLS_REPORT_MATRIX_H
#define HEARTH_TOOLS_REPORT_MATRIX_H

#include "observe/json_read.h"
#include "report/report.h"
#include "report/html/report_nodes.h"

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
/* By bytes, the most first; equal ones by time. */
void flows_sort(struct flows *f);

/* Whether the member "targets" of a process, if any, is complete. */
bool flows_are_valid(const struct json_value *process);

/* ---- as a matrix ---- */

/* A matrix has at most MATRIX_SIDE rows and columns; each stands for neighbouring ranks or nodes if there are more. */
enum { MATRIX_SIDE = 64 };

struct matrix_cell {
    uint64_t gets, puts, messages, bytes;
    double seconds;
};

struct matrix {
    size_t side;
    uint64_t each;             /* ranks or nodes per row */
    const struct nodes *nodes; /* NULL: rows are ranks */
    struct matrix_cell cells[MATRIX_SIDE * MATRIX_SIDE];
    uint64_t most_bytes;
    double most_seconds;
};

void matrix_of_ranks(const struct run *run, const struct flows *flows, struct matrix *m);
void matrix_of_nodes(const struct run *run, const struct flows *flows, const struct nodes *nodes,
                     struct matrix *m);
bool matrix_cell_is_empty(const struct matrix_cell *c);
/* The label of a row, to be freed. */
char *matrix_label(const struct matrix *m, size_t row);

/* The section of a page, and of the text. */
void html_matrix(FILE *f, const struct run *run);
void report_text_matrix(FILE *f, const struct run *run);

#endif
