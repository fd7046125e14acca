/* report_nodes.c: groups the ranks of a run by node, and reads their time in MPI by call.
 *
 * The times per rank and call stay in the JSON, which report_read has checked: a job may have thousands of ranks, and most
 * output needs only sums. */
#include "report/html/report_nodes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "tools.h"

/* ---- nodes ---- */

static const struct run *sorted_run; /* for the comparison functions */

static int by_host(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(sorted_run->rank[x].host, sorted_run->rank[y].host);
    return order ? order : (x > y) - (x < y);
}

/* The sort by host is then moved node by node into the order of the lowest ranks. */
static int by_first(const void *a, const void *b) {
    size_t x = ((const struct node *)a)->first, y = ((const struct node *)b)->first;
    return (x > y) - (x < y);
}

static void node_add(struct node *n, const struct rank_sum *r) {
#define X(name) n->sum.name += r->sum.name;
    REPORT_COUNTS(X)
#undef X
    n->seconds += r->seconds;
    n->mpi_seconds += r->mpi_seconds;
    n->mpi_least = n->count ? fmin(n->mpi_least, r->mpi_seconds) : r->mpi_seconds;
    n->mpi_most = fmax(n->mpi_most, r->mpi_seconds);
    n->count++;
}

struct nodes run_nodes(const struct run *run) {
    struct nodes n = {.of = need(run->rank_count * sizeof *n.of),
                      .order = need(run->rank_count * sizeof *n.order)};
    size_t *hosts = need(run->rank_count * sizeof *hosts), next = 0;
    for (size_t i = 0; i < run->rank_count; i++)
        hosts[i] = i;
    sorted_run = run;
    if (run->rank_count)
        qsort(hosts, run->rank_count, sizeof *hosts, by_host);
    for (size_t i = 0; i < run->rank_count; i++) {
        const struct rank_sum *r = &run->rank[hosts[i]];
        if (!i || strcmp(r->host, n.of[n.count - 1].host))
            n.of[n.count++] = (struct node){.host = r->host, .first = hosts[i]};
        node_add(&n.of[n.count - 1], r);
    }
    if (n.count)
        qsort(n.of, n.count, sizeof *n.of, by_first);
    for (size_t i = 0; i < n.count; i++) {
        size_t at = 0; /* where its ranks are in `hosts` */
        for (size_t low = 0, high = run->rank_count; low < high;) {
            size_t middle = (low + high) / 2;
            if (strcmp(run->rank[hosts[middle]].host, n.of[i].host) < 0)
                low = middle + 1;
            else
                high = at = middle;
        }
        n.of[i].first = next;
        for (size_t k = 0; k < n.of[i].count; k++)
            n.order[next++] = hosts[at + k];
    }
    free(hosts);
    return n;
}

void nodes_free(struct nodes *n) {
    free(n->of);
    free(n->order);
    *n = (struct nodes){0};
}

/* ---- rows ---- */

static struct rank_row row_of_ranks(const struct run *run, const struct nodes *n, size_t first,
                                    size_t count) {
    uint64_t begin = run->rank[n->order[first]].rank, end = run->rank[n->order[first + count - 1]].rank;
    return (struct rank_row){.first = first,
                             .count = count,
                             .name = count == 1 ? need_text("%" PRIu64, begin)
                                                : need_text("%" PRIu64 " to %" PRIu64, begin, end)};
}

static struct rank_row row_of_nodes(const struct nodes *n, size_t first, size_t count) {
    const struct node *begin = &n->of[first], *end = &n->of[first + count - 1];
    return (struct rank_row){.first = begin->first,
                             .count = end->first + end->count - begin->first,
                             .node = first,
                             .name = count == 1 ? need_copy(begin->host)
                                                : need_text("%s to %s", begin->host, end->host)};
}

/* The number of things per row. */
static size_t row_size(size_t things, size_t most) {
    return (things + most - 1) / most;
}

struct rank_rows run_rank_rows(const struct run *run, const struct nodes *n, size_t most) {
    bool is_ranks = run->rank_count <= most, is_nodes = !is_ranks && n->count > 1;
    size_t things = is_nodes ? n->count : run->rank_count, each = row_size(things, most);
    struct rank_rows r = {.of = need(most * sizeof *r.of), .is_ranks = is_ranks, .is_nodes = is_nodes};
    for (size_t first = 0, node = 0; first < things; first += each) {
        size_t count = things - first < each ? things - first : each;
        if (is_nodes) {
            r.of[r.count++] = row_of_nodes(n, first, count);
            continue;
        }
        while (first >= n->of[node].first + n->of[node].count)
            node++;
        r.of[r.count] = row_of_ranks(run, n, first, count);
        r.of[r.count++].node = node;
    }
    return r;
}

void rank_rows_free(struct rank_rows *r) {
    for (size_t i = 0; i < r->count; i++)
        free(r->of[i].name);
    free(r->of);
    *r = (struct rank_rows){0};
}

/* ---- time by rank and call ---- */

size_t run_rank_index(const struct run *run, uint64_t rank) {
    size_t low = 0, high = run->rank_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (run->rank[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->rank_count && run->rank[low].rank == rank ? low : run->rank_count;
}

static void grid_add(const struct run *run, const struct call_grid *g, const struct json_value *call,
                     double *row) {
    const char *name = json_member(call, "call")->text;
    size_t column = 0, named = g->columns - g->is_cut;
    while (column < named && strcmp(run->calls[column].name, name))
        column++;
    if (column < g->columns)
        row[column] += json_member(call, "seconds")->number;
}

struct call_grid run_call_grid(const struct run *run, size_t most) {
    struct call_grid g = {.is_cut = run->call_count > most};
    g.columns = g.is_cut ? most : run->call_count;
    g.seconds = need(run->rank_count * g.columns * sizeof *g.seconds);
    const struct json_value *processes = json_member(run->root, "processes");
    for (const struct json_value *p = NULL; g.columns && (p = json_next(processes, p));) {
        const struct json_value *calls = json_member(json_member(p, "mpi"), "calls");
        size_t rank = run_rank_index(run, json_member(p, "rank")->count);
        for (const struct json_value *c = NULL; calls && rank < run->rank_count && (c = json_next(calls, c));)
            grid_add(run, &g, c, &g.seconds[rank * g.columns]);
    }
    return g;
}

void call_grid_free(struct call_grid *g) {
    free(g->seconds);
    *g = (struct call_grid){0};
}

const char *call_grid_name(const struct run *run, const struct call_grid *g, size_t column) {
    return g->is_cut && column == g->columns - 1 ? "other calls" : run->calls[column].name;
}

double call_grid_mean(const struct call_grid *g, const struct nodes *n, const struct rank_row *row,
                      size_t column) {
    double sum = 0;
    for (size_t i = 0; i < row->count; i++)
        sum += g->seconds[n->order[row->first + i] * g->columns + column];
    return sum / (double)row->count;
}
