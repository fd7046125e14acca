/* report_html_ranks.c: the sections of a page about ranks: time in MPI by call and by rank, gets by rank. Ranks are
 * grouped by node if there are several nodes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/report_nodes.h"
#include "report/html/report_plot.h"
#include "tools.h"

enum { RANKS = 64, CALLS = 40 };

/* ---- time in MPI ---- */

void html_calls(FILE *f, const struct run *run) {
    page_section(f, "calls", "Time in MPI by call");
    if (!run->is_timed) {
        page_missing(f, "Not observed: the report was written by an older Hearth.");
        page_section_end(f);
        return;
    }
    fputs("<p class=\"note\">All ranks; estimates from a sample.</p>\n", f);
    page_table(f, "Time in MPI by call");
    fputs("<tr><th class=\"text\">call</th><th>count</th><th>time</th><th>share of "
          "MPI</th><th>mean</th><th>longest</th></tr>\n",
          f);
    for (size_t i = 0; i < run->call_count && i < CALLS; i++) {
        const struct call_sum *c = &run->calls[i];
        fputs("<tr>", f);
        cell_text(f, c->name);
        cell_count(f, "count", c->count);
        cell_seconds(f, "seconds", c->seconds);
        cell_ratio(f, "share", run->mpi_seconds > 0 ? c->seconds / run->mpi_seconds : 0);
        cell_seconds(f, "mean", c->count ? c->seconds / (double)c->count : 0);
        cell_seconds(f, "longest", c->longest);
        fputs("</tr>\n", f);
    }
    page_table_end(f);
    if (run->call_count > CALLS)
        fprintf(f, "<p class=\"note\">%zu more functions.</p>\n", run->call_count - CALLS);
    page_section_end(f);
}

static void times_cells(FILE *f, const struct run *run, const struct nodes *n, const struct rank_row *row,
                        const struct call_grid *g) {
    double seconds = 0, mpi = 0;
    for (size_t i = 0; i < row->count; i++) {
        seconds += run->rank[n->order[row->first + i]].seconds / (double)row->count;
        mpi += run->rank[n->order[row->first + i]].mpi_seconds / (double)row->count;
    }
    cell_seconds(f, "run", seconds);
    cell_seconds(f, "mpi", mpi);
    fprintf(f, "<td>%s</td>", say_percent(seconds > 0 ? mpi / seconds : 0));
    for (size_t c = 0; c < g->columns; c++)
        cell_seconds(f, "call", call_grid_mean(g, n, row, c));
    fputs("</tr>\n", f);
}

static void times_node(FILE *f, const struct run *run, const struct nodes *n, size_t node,
                       const struct call_grid *g) {
    const struct node *of = &n->of[node];
    struct rank_row row = {.first = of->first, .count = of->count};
    fputs("<tr class=\"node\" data-node=\"", f);
    page_text(f, of->host);
    fputs("\"><td class=\"text\">", f);
    page_text(f, of->host);
    fprintf(f, " <small>mean of %zu</small></td>", of->count);
    times_cells(f, run, n, &row, g);
}

static void times_table(FILE *f, const struct run *run, const struct nodes *n, const struct rank_rows *rows,
                        const struct call_grid *g) {
    page_table(f, "Time in MPI by rank");
    fprintf(f, "<tr><th class=\"text\">%s</th><th>run time</th><th>in MPI</th><th>share</th>",
            rows->is_nodes   ? "node (means)"
            : rows->is_ranks ? "rank"
                             : "ranks (means)");
    for (size_t c = 0; c < g->columns; c++) {
        fputs("<th>", f);
        page_text(f, call_grid_name(run, g, c));
        fputs("</th>", f);
    }
    fputs("</tr>\n", f);
    for (size_t i = 0; i < rows->count; i++) {
        const struct rank_row *row = &rows->of[i];
        if (rows->is_ranks && n->count > 1 && (!i || row->node != rows->of[i - 1].node))
            times_node(f, run, n, row->node, g);
        fputs("<tr data-row=\"", f);
        page_text(f, row->name);
        fputs("\"><td class=\"text\">", f);
        page_text(f, row->name);
        fputs("</td>", f);
        times_cells(f, run, n, row, g);
    }
    page_table_end(f);
}

static double html_mpi_of(const struct rank_sum *r) {
    return r->mpi_seconds;
}

void html_mpi_ranks(FILE *f, const struct run *run) {
    if (!run->is_timed || !run->call_count)
        return;
    struct nodes n = run_nodes(run);
    struct rank_rows rows = run_rank_rows(run, &n, RANKS);
    struct call_grid g = run_call_grid(run, SERIES);
    struct spread s = run_spread(run, html_mpi_of);
    page_section(f, "mpi-ranks", "Time in MPI by rank");
    chart_mpi(f, run);
    times_table(f, run, &n, &rows, &g);
    if (run->rank_count > 1)
        fprintf(f, "<p class=\"note\">From %s to %s (rank %" PRIu64 "), mean %s.</p>\n", say_seconds(s.least),
                say_seconds(s.most), s.most_rank, say_seconds(s.mean));
    page_section_end(f);
    call_grid_free(&g);
    rank_rows_free(&rows);
    nodes_free(&n);
}

/* ---- gets ---- */

static void gets_cells(FILE *f, const struct counts *c) {
    cell_count(f, "gets", c->gets);
    cell_count(f, "hits", counts_hits(c));
    cell_ratio(f, "ratio", counts_hit_ratio(c));
    cell_bytes(f, "served", c->bytes_served);
    cell_bytes(f, "fetched", c->bytes_fetched);
    cell_count(f, "elided", c->elided);
    fputs("</tr>\n", f);
}

static void gets_row(FILE *f, const char *who, const char *class, const char *attribute,
                     const struct counts *c) {
    fprintf(f, "<tr%s data-%s=\"", class, attribute);
    page_text(f, who);
    fputs("\"><td class=\"text\">", f);
    page_text(f, who);
    fputs("</td>", f);
    gets_cells(f, c);
}

static double html_gets_of(const struct rank_sum *r) {
    return (double)r->sum.gets;
}

static double html_ratio_of(const struct rank_sum *r) {
    return counts_hit_ratio(&r->sum);
}

static void put_spread(FILE *f, const struct run *run) {
    struct spread gets = run_spread(run, html_gets_of), ratio = run_spread(run, html_ratio_of);
    fprintf(f,
            "<p class=\"note\">Gets from %.0f to %.0f, mean %.0f, standard deviation / mean %.3f. Hit ratio "
            "from %.3f to "
            "%.3f.</p>\n",
            gets.least, gets.most, gets.mean, gets.deviation, ratio.least, ratio.most);
}

static void gets_ranks(FILE *f, const struct run *run, const struct nodes *n, const struct node *node) {
    for (size_t i = 0; i < node->count && i < RANKS; i++) {
        const struct rank_sum *r = &run->rank[n->order[node->first + i]];
        char who[24];
        snprintf(who, sizeof who, "%" PRIu64, r->rank);
        gets_row(f, who, "", "rank", &r->sum);
    }
}

/* The nodes, if there are several, each followed by its ranks, if they are few. */
static void gets_rows(FILE *f, const struct run *run, const struct nodes *n) {
    for (size_t i = 0; i < n->count && i < RANKS; i++) {
        if (n->count > 1)
            gets_row(f, n->of[i].host, " class=\"node\"", "node", &n->of[i].sum);
        if (n->count == 1 || run->rank_count <= RANKS)
            gets_ranks(f, run, n, &n->of[i]);
    }
}

void html_ranks(FILE *f, const struct run *run) {
    struct nodes n = run_nodes(run);
    page_section(f, "ranks", "Gets by rank");
    page_table(f, "Gets by rank");
    fprintf(f,
            "<tr><th class=\"text\">%s</th><th>gets</th><th>hits</th><th>hit ratio</th><th>served</th>"
            "<th>fetched</th><th>flushes saved</th></tr>\n",
            n.count > 1 ? "node, rank" : "rank");
    gets_rows(f, run, &n);
    gets_row(f, "all", " class=\"sum\"", "rank", &run->all);
    page_table_end(f);
    if (run->rank_count > RANKS)
        fprintf(f,
                "<p class=\"note\">At most %d %s are listed; hearth report without --html prints all "
                "ranks.</p>\n",
                RANKS, n.count > 1 ? "nodes" : "ranks");
    if (run->rank_count > 1)
        put_spread(f, run);
    page_section_end(f);
    nodes_free(&n);
}
