/* report_bars.c: stacked bars: the outcomes of gets by window, and the time in MPI by rank and call.
 *
 * All bars of a chart have one axis: gets are shares from 0 to 1, times go from 0 to the run time, or less if little of it is
 * spent in MPI. */
#include <inttypes.h>
#include <math.h>

#include "report/html/report_nodes.h"
#include "report/html/report_plot.h"

/* ---- outcomes of gets ---- */

void bars_types(FILE *f, const char *name, const struct counts *c) {
    double at = 0;
    fputs("<div>", f);
    page_text(f, name);
    fprintf(f, " <span class=\"note\">%s gets</span></div>\n", say_count(c->gets));
    fputs("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"outcomes of "
          "the gets of ",
          f);
    page_text(f, name);
    fputs("\">\n", f);
    for (int i = 0; i < ACCESS_TYPES; i++) {
        uint64_t count = counts_of_type(c, i);
        double width = 1000 * share(count, c->gets);
        if (!count)
            continue;
        fprintf(f,
                "<rect x=\"%.6g\" y=\"0\" width=\"%.6g\" height=\"10\" style=\"fill:var(--type-%d)\" "
                "data-type=\"%s\" data-count=\"%" PRIu64 "\"><title>%s: %" PRIu64 ", %s</title></rect>\n",
                at, width, i, access_types[i].name, count, access_types[i].name, count,
                say_percent(share(count, c->gets)));
        at += width;
    }
    fputs("</svg>\n", f);
}

void bars_legend_types(FILE *f) {
    fputs("<ul class=\"legend\">", f);
    for (int i = 0; i < ACCESS_TYPES; i++)
        fprintf(f, "<li title=\"%s\"><i style=\"background:var(--type-%d)\"></i>%s</li>",
                access_types[i].meaning, i, access_types[i].name);
    fputs("</ul>\n", f);
}

void chart_types(FILE *f, const struct run *run) {
    enum { MOST = 12 };
    size_t busy = run->window_count - run->silent_windows, shown = busy < MOST ? busy : MOST;
    if (!busy) {
        page_missing(f, "No window had gets.");
        return;
    }
    bars_legend_types(f);
    fputs("<div class=\"bars\">\n", f);
    for (size_t i = 0; i < shown; i++)
        bars_types(f, say_window(&run->windows[i]), &run->windows[i].sum);
    if (busy > 1)
        bars_types(f, "all windows", &run->all);
    fputs("</div>\n", f);
    if (busy > shown || run->silent_windows)
        fprintf(f, "<p class=\"note\">%zu more windows had gets, %zu had none.</p>\n", busy - shown,
                run->silent_windows);
}

/* ---- time in MPI ---- */

void bars_axis(FILE *f, double seconds) {
    fputs("<div class=\"x\">", f);
    for (int i = 0; i < PLOT_TICKS; i++)
        plot_x_label(f, (double)i / (PLOT_TICKS - 1), i ? say_seconds(seconds * i / (PLOT_TICKS - 1)) : "0",
                     i % 2);
    fputs("</div>\n", f);
}

void bars_part(FILE *f, double *at, double seconds, double axis, int series, const char *row,
               const char *call) {
    double width = axis > 0 ? 1000 * seconds / axis : 0;
    if (!(seconds > 0))
        return;
    fprintf(f,
            "<rect x=\"%.6g\" y=\"0\" width=\"%.6g\" height=\"10\" style=\"fill:var(--series-%d)\" "
            "data-seconds=\"%.9g\" data-row=\"",
            *at, width, series, seconds);
    page_text(f, row);
    fputs("\" data-call=\"", f);
    page_text(f, call);
    fputs("\"><title>", f);
    page_text(f, row);
    fputs(", ", f);
    page_text(f, call);
    fprintf(f, ": %s</title></rect>\n", say_seconds(seconds));
    *at += width;
}

static void bars_row(FILE *f, const struct run *run, const struct nodes *n, const struct rank_row *row,
                     const struct call_grid *g, const char *kind, double axis) {
    double at = 0, sum = 0;
    for (size_t c = 0; c < g->columns; c++)
        sum += call_grid_mean(g, n, row, c);
    fprintf(f, "<div>%s", kind);
    page_text(f, row->name);
    fprintf(f, " <span class=\"note\">%s</span></div>\n", say_seconds(sum));
    fprintf(f,
            "<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"time in MPI "
            "of %s",
            kind);
    page_text(f, row->name);
    fputs("\">\n", f);
    for (size_t c = 0; c < g->columns; c++)
        bars_part(f, &at, call_grid_mean(g, n, row, c), axis, (int)c, row->name, call_grid_name(run, g, c));
    fputs("</svg>\n", f);
}

static void bars_legend_calls(FILE *f, const struct run *run, const struct call_grid *g) {
    fputs("<ul class=\"legend\">", f);
    for (size_t c = 0; c < g->columns; c++)
        legend_item(f, "series", (int)c, call_grid_name(run, g, c));
    fputs("</ul>\n", f);
}

double bars_mpi_axis(double seconds, double longest) {
    return longest > 0 && (longest < 0.1 * seconds || longest > seconds) ? longest : seconds;
}

static double longest_in_mpi(const struct run *run) {
    double longest = 0;
    for (size_t i = 0; i < run->rank_count; i++)
        longest = fmax(longest, run->rank[i].mpi_seconds);
    return longest;
}

void chart_mpi(FILE *f, const struct run *run) {
    enum { ROWS = 64 };
    struct nodes n = run_nodes(run);
    struct rank_rows rows = run_rank_rows(run, &n, ROWS);
    struct call_grid g = run_call_grid(run, SERIES);
    double axis = bars_mpi_axis(run->seconds, longest_in_mpi(run));
    bars_legend_calls(f, run, &g);
    fputs("<div class=\"bars slim\">\n", f);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.is_ranks && n.count > 1 && (!i || rows.of[i].node != rows.of[i - 1].node)) {
            fputs("<h3>node ", f);
            page_text(f, n.of[rows.of[i].node].host);
            fputs("</h3>\n", f);
        }
        bars_row(f, run, &n, &rows.of[i], &g,
                 rows.is_nodes   ? "node "
                 : rows.is_ranks ? "rank "
                                 : "ranks ",
                 axis);
    }
    bars_axis(f, axis);
    fputs("</div>\n", f);
    fprintf(f, "<p class=\"note\">%s The run took %s. Estimates from a sample; threads add up.</p>\n",
            rows.is_ranks ? "Seconds of each rank." : "Seconds, mean of the ranks of a row.",
            say_seconds(run->seconds));
    call_grid_free(&g);
    rank_rows_free(&rows);
    nodes_free(&n);
}
