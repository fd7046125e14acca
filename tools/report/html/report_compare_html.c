/* report_compare_html.c: groups of runs as a page. All charts of one kind have the same axis, so that groups can be
 * compared by eye. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_compare.h"
#include "report/html/report_plot.h"
#include "tools.h"

/* ---- run times ---- */

static double longest_run(const struct run_groups *groups) {
    double most = 0;
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->of[i].count; k++)
            most = fmax(most, groups->of[i].runs[k].seconds);
    return most;
}

static void group_label(FILE *f, const struct run_group *g, const char *what) {
    fprintf(f, "<div><b>%s</b> <span class=\"note\">%s</span></div>\n", g->name, what);
}

static void begin_bar(FILE *f, const char *what, const struct run_group *g) {
    fprintf(
        f,
        "<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s of %s\">\n",
        what, g->name);
}

/* A group with such runs has no times to draw. */
static bool put_if_partial(FILE *f, const struct run_group *g) {
    size_t partial = group_partial(g);
    if (!partial)
        return false;
    char *label = need_text("not comparable: %zu of %zu runs did not reach MPI_Finalize", partial, g->count);
    group_label(f, g, label);
    free(label);
    return true;
}

/* A box from the shortest to the longest run, a line for each run, a thick one for the median. */
static void put_run_times(FILE *f, const struct run_group *g, double axis) {
    if (put_if_partial(f, g))
        return;
    double *values = need(g->count * sizeof *values), scale = axis > 0 ? 1000 / axis : 0;
    for (size_t i = 0; i < g->count; i++)
        values[i] = g->runs[i].seconds;
    struct range r = range_of(values, g->count);
    char *label = need_text("%s, %zu run%s", say_seconds(r.median), g->count, g->count == 1 ? "" : "s");
    group_label(f, g, label);
    begin_bar(f, "run times", g);
    if (g->count > 1)
        fprintf(f,
                "<rect x=\"%.6g\" y=\"1\" width=\"%.6g\" height=\"8\" style=\"fill:var(--series-6)\" "
                "fill-opacity=\"0.5\"><title>%s to %s</title></rect>\n",
                scale * r.least, scale * (r.most - r.least), say_seconds(r.least), say_seconds(r.most));
    for (size_t i = 0; i < g->count; i++)
        fprintf(f,
                "<path d=\"M%.6g 2V8\" style=\"stroke:var(--series-0)\" stroke-width=\"2\" "
                "vector-effect=\"non-scaling-stroke\" data-seconds=\"%.9g\"><title>%s</title></path>\n",
                scale * values[i], values[i], say_seconds(values[i]));
    fprintf(f,
            "<path d=\"M%.6g 0V10\" style=\"stroke:var(--series-1)\" stroke-width=\"4\" "
            "vector-effect=\"non-scaling-stroke\" data-median=\"%.9g\"><title>median %s</title></path>\n",
            scale * r.median, r.median, say_seconds(r.median));
    fputs("</svg>\n", f);
    free(label);
    free(values);
}

static void put_times_of(FILE *f, const struct run_groups *groups) {
    double axis = longest_run(groups);
    page_section(f, "times", "Run time");
    fputs("<ul class=\"legend\">", f);
    legend_item(f, "series", 0, "run");
    legend_item(f, "series", 1, "median");
    legend_item(f, "series", 6, "shortest to longest");
    fputs("</ul>\n<div class=\"bars\">\n", f);
    for (size_t i = 0; i < groups->count; i++)
        put_run_times(f, &groups->of[i], axis);
    bars_axis(f, axis);
    fputs("</div>\n", f);
    page_section_end(f);
}

/* ---- time in MPI ---- */

static double median_call(const struct run_group *g, const char *call) {
    if (group_partial(g))
        return 0;
    double *values = need(g->count * sizeof *values);
    for (size_t i = 0; i < g->count; i++)
        values[i] = call ? compare_call_seconds(&g->runs[i], call)
                         : g->runs[i].mpi_seconds / fmax(1, (double)g->runs[i].rank_count);
    struct range r = range_of(values, g->count);
    free(values);
    return isnan(r.median) ? 0 : r.median;
}

static void put_mpi_times(FILE *f, const struct run_groups *groups, const char *const *calls, size_t count,
                          double axis) {
    for (size_t i = 0; i < groups->count; i++) {
        const struct run_group *g = &groups->of[i];
        if (put_if_partial(f, g))
            continue;
        double at = 0, left = median_call(g, NULL);
        group_label(f, g, say_seconds(left));
        begin_bar(f, "time in MPI", g);
        for (size_t k = 0; k < count; k++) {
            double seconds = median_call(g, calls[k]);
            left -= seconds;
            bars_part(f, &at, seconds, axis, (int)k, g->name, calls[k]);
        }
        bars_part(f, &at, left > 1e-3 * axis ? left : 0, axis, SERIES - 1, g->name, "other calls");
        fputs("</svg>\n", f);
    }
}

static void put_mpi_of(FILE *f, const struct run_groups *groups) {
    size_t count;
    const char **calls = compare_calls(groups, SERIES - 1, &count);
    double longest = 0;
    for (size_t i = 0; i < groups->count; i++)
        longest = fmax(longest, median_call(&groups->of[i], NULL));
    double axis = bars_mpi_axis(longest_run(groups), longest);
    if (count) {
        page_section(f, "mpi", "Time in MPI of a rank, by call");
        fputs("<ul class=\"legend\">", f);
        for (size_t k = 0; k < count; k++)
            legend_item(f, "series", (int)k, calls[k]);
        legend_item(f, "series", SERIES - 1, "other calls");
        fputs("</ul>\n<div class=\"bars\">\n", f);
        put_mpi_times(f, groups, calls, count, axis);
        bars_axis(f, axis);
        fputs("</div>\n<p class=\"note\">Medians of the runs, mean of the ranks; estimates from a "
              "sample.</p>\n",
              f);
        page_section_end(f);
    }
    free(calls);
}

/* ---- gets ---- */

static void put_gets_of(FILE *f, const struct run_groups *groups) {
    struct size_span axis = {0};
    bool has_gets = false;
    for (size_t i = 0; i < groups->count; i++) {
        axis = size_span_join(axis, chart_curve_span(group_middle(&groups->of[i])));
        has_gets |= group_middle(&groups->of[i])->all.gets > 0;
    }
    if (!has_gets)
        return;
    page_section(f, "types", "Outcomes of gets");
    bars_legend_types(f);
    fputs("<div class=\"bars\">\n", f);
    for (size_t i = 0; i < groups->count; i++)
        bars_types(f, groups->of[i].name, &group_middle(&groups->of[i])->all);
    fputs("</div>\n<p class=\"note\">Of each group the run with the median run time.</p>\n", f);
    page_section_end(f);
    page_section(f, "curves", "Hit ratio by cache size");
    fputs("<div class=\"pair\">\n", f);
    for (size_t i = 0; i < groups->count; i++) {
        fprintf(f, "<div><h3>%s</h3>\n", groups->of[i].name);
        chart_curves(f, group_middle(&groups->of[i]), axis);
        fputs("</div>\n", f);
    }
    fputs("</div>\n", f);
    page_section_end(f);
}

/* ---- tables ---- */

static void put_cells(FILE *f, const struct comparison *c, const struct compare_line *l) {
    fputs("<tr>", f);
    cell_text(f, l->what);
    for (size_t i = 0; i < c->groups->count; i++) {
        const struct compare_cell *cell = &l->cells[i];
        fputs("<td>", f);
        page_text(f, cell->median);
        if (*cell->spread) {
            fputs("<br><small>", f);
            page_text(f, cell->spread);
            fputs("</small>", f);
        }
        fputs("</td>", f);
        if (i) {
            fputs("<td>", f);
            page_text(f, cell->change);
            fputs("</td>", f);
        }
    }
    fputs("</tr>\n", f);
}

static void put_heading(FILE *f, const struct comparison *c, const char *title) {
    fputs("<section class=\"table\">\n<h2>", f);
    page_text(f, title);
    fputs("</h2>\n", f);
    page_table(f, title);
    fputs("<tr><th class=\"text\"></th>", f);
    for (size_t i = 0; i < c->groups->count; i++)
        fprintf(f, "<th>%s</th>%s", c->groups->of[i].name, i ? "<th>change</th>" : "");
    fputs("</tr>\n", f);
}

static void put_groups(FILE *f, const struct run_groups *groups) {
    page_section(f, "groups", "Runs");
    page_table(f, "Runs");
    fputs("<tr><th class=\"text\">group</th><th class=\"text\">report</th><th "
          "class=\"text\">command</th><th class=\"text\">started</th><th>run time</th><th "
          "class=\"text\">partial</th></tr>\n",
          f);
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->of[i].count; k++) {
            const struct run *run = &groups->of[i].runs[k];
            fprintf(f, "<tr><td class=\"text\">%s</td>", groups->of[i].name);
            cell_text(f, run->path);
            cell_text(f, run->command);
            cell_text(f, say_time(run->begun));
            cell_seconds(f, "seconds", run->seconds);
            cell_text(f, run->partial ? run->partial : "");
            fputs("</tr>\n", f);
        }
    page_table_end(f);
    page_section_end(f);
}

void report_html_comparison(FILE *f, const struct comparison *c) {
    bool is_open = false;
    page_begin(f, "Hearth: runs compared");
    fputs("<p id=\"verdict\"><b>", f);
    page_text(f, c->verdict);
    fputs("</b></p>\n", f);
    put_groups(f, c->groups);
    put_times_of(f, c->groups);
    put_mpi_of(f, c->groups);
    put_gets_of(f, c->groups);
    for (size_t i = 0; i < c->count; i++) {
        if (!c->lines[i].is_heading) {
            put_cells(f, c, &c->lines[i]);
            continue;
        }
        if (is_open)
            page_table_end(f);
        fputs(is_open ? "</section>\n" : "", f);
        put_heading(f, c, c->lines[i].what);
        is_open = true;
    }
    if (is_open)
        page_table_end(f);
    fputs(is_open ? "</section>\n" : "", f);
    page_end(f);
}
