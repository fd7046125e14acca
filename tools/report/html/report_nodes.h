/* report_nodes.h: the ranks of a run by node, and their time in MPI by call. */
#ifndef HEARTH_TOOLS_REPORT_NODES_H
#define HEARTH_TOOLS_REPORT_NODES_H

#include "report/report.h"

struct node {
    const char *host;
    size_t first, count; /* its ranks: order[first] and so on */
    struct counts sum;
    double seconds, mpi_seconds; /* of all its ranks */
    double mpi_least, mpi_most;  /* of a rank */
};

/* Nodes in the order of their lowest ranks. */
struct nodes {
    struct node *of;
    size_t count;
    size_t *order; /* indices of run->rank, node by node */
};
struct nodes run_nodes(const struct run *run);
void nodes_free(struct nodes *n);

/* Rows of a chart or a table: the ranks if they are few, else the nodes or groups of nodes, or, on one node, groups of
 * neighbouring ranks. */
struct rank_row {
    char *name;          /* "3", "4 to 7", the name of a node, "a to b" */
    size_t first, count; /* in nodes.order */
    size_t node;         /* of the first rank */
};
struct rank_rows {
    struct rank_row *of;
    size_t count;
    bool is_ranks, is_nodes; /* each row is a rank; a node or several */
};
struct rank_rows run_rank_rows(const struct run *run, const struct nodes *n, size_t most);
void rank_rows_free(struct rank_rows *r);

/* Seconds of each rank in the functions that take most time, and in the others. */
struct call_grid {
    size_t columns; /* of these the last is for the other functions, if is_cut */
    bool is_cut;
    double *seconds; /* of rank i in column c: seconds[i * columns + c] */
};
struct call_grid run_call_grid(const struct run *run, size_t most);
void call_grid_free(struct call_grid *g);
const char *call_grid_name(const struct run *run, const struct call_grid *g, size_t column);
/* Mean over the ranks of a row. */
double call_grid_mean(const struct call_grid *g, const struct nodes *n, const struct rank_row *row,
                      size_t column);

/* Index in run->rank; rank_count if there is none. */
size_t run_rank_index(const struct run *run, uint64_t rank);

#endif
