/* report_chart.c: charts as inline SVG, in the frames of report_plot.h. The meaning of a mark is in its title, which
 * browsers show, and in its data attributes. */
#include "report/html/report_plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { HIGH = PLOT_HIGH, TICKS = PLOT_TICKS };

static const char not_recorded[] = "Not recorded: the run had HEARTH_RECORD=off, or made no window.";

static void time_labels(FILE *f, const struct grid *g) {
    double end = (double)g->columns * g->step;
    for (int i = 0; i < TICKS; i++)
        plot_x_label(f, (double)i / (TICKS - 1), i ? say_seconds(end * i / (TICKS - 1)) : "0", i % 2);
}

/* ---- heat maps ---- */

static void rank_labels(FILE *f, const struct run *run, const struct grid *g) {
    size_t every = (g->rows + 7) / 8;
    char text[48];
    for (size_t row = 0; row < g->rows; row += every) {
        size_t first = row * g->ranks_per_row;
        snprintf(text, sizeof text, "%s%" PRIu64, row ? "" : "rank ", run->rank[first].rank);
        plot_y_label(f, ((double)row + 0.5) / (double)g->rows, text);
    }
}

static void put_rank_names(FILE *f, const struct run *run, const struct grid *g, size_t row) {
    size_t first = row * g->ranks_per_row, last = first + g->ranks_per_row - 1;
    last = last < run->rank_count ? last : run->rank_count - 1;
    fprintf(f, first == last ? "rank %" PRIu64 : "ranks %" PRIu64 " to %" PRIu64, run->rank[first].rank,
            run->rank[last].rank);
}

static void put_cell(FILE *f, const struct run *run, const struct grid *g, size_t row, size_t column,
                     enum heat scale, double value) {
    const struct cell *c = &g->cells[row * g->columns + column];
    fprintf(f, "<rect x=\"%zu\" y=\"%zu\" width=\"1\" height=\"1\" class=\"%s", column, row,
            heat_class(scale, value));
    fprintf(f, "\" data-gets=\"%" PRIu64 "\" data-hits=\"%" PRIu64 "\" data-bytes=\"%" PRIu64 "\"><title>",
            c->gets, c->hits, c->bytes);
    put_rank_names(f, run, g, row);
    fprintf(f, ", from %s to %s: %" PRIu64 " gets, hit ratio %.3f, %s</title></rect>\n",
            say_seconds((double)column * g->step), say_seconds((double)(column + 1) * g->step), c->gets,
            share(c->hits, c->gets), say_bytes(c->bytes));
}

static double chart_ratio_of(const struct cell *c, double most) {
    return share(c->hits, c->gets);
}

/* Square root: a few cells hold most of the bytes, and the others should still be distinguishable. */
static double bytes_of(const struct cell *c, double most) {
    return sqrt((double)c->bytes / most);
}

static void put_map(FILE *f, const struct run *run, const struct grid *g, const char *caption,
                    enum heat scale, double (*value)(const struct cell *, double most), double most) {
    plot_begin(f, caption, false);
    rank_labels(f, run, g);
    plot_draw(f, (double)g->columns, (double)g->rows, caption);
    fputs("<g shape-rendering=\"crispEdges\">\n", f);
    for (size_t i = 0; i < g->rows * g->columns; i++)
        if (g->cells[i].gets || g->cells[i].bytes)
            put_cell(f, run, g, i / g->columns, i % g->columns, scale, value(&g->cells[i], most));
    fputs("</g>\n", f);
    plot_drawn(f);
    time_labels(f, g);
    plot_end(f);
}

void chart_hit_map(FILE *f, const struct run *run, const struct grid *g) {
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    put_map(f, run, g, "Hit ratio by rank over time; empty: no gets", HEAT_COOL, chart_ratio_of, 1);
    heat_scale(f, HEAT_COOL, "0", "1");
}

void chart_byte_map(FILE *f, const struct run *run, const struct grid *g) {
    uint64_t most = 1;
    for (size_t i = 0; i < g->rows * g->columns; i++)
        most = g->cells[i].bytes > most ? g->cells[i].bytes : most;
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    put_map(f, run, g, "Bytes requested by rank over time, served and fetched; empty: no gets", HEAT_WARM,
            bytes_of, (double)most);
    heat_scale(f, HEAT_WARM, "0", say_bytes(most));
}

/* ---- lines over time ---- */

/* From the beginning of the first column to the end of the last. */
static void put_line(FILE *f, const struct grid *g, uint64_t (*of)(const struct level *), double most,
                     const char *colour, bool is_filled) {
    fprintf(f, "<path d=\"M0 %d", HIGH);
    for (size_t i = 0; i < g->columns; i++)
        fprintf(f, "%c%zu %.4g", 'L', i + 1, HIGH * (1 - (double)of(&g->levels[i]) / most));
    if (is_filled)
        fprintf(f, "L%zu %dZ\" style=\"fill:var(%s)\" fill-opacity=\"0.35\"/>\n", g->columns, HIGH, colour);
    else
        fprintf(f,
                "\" fill=\"none\" style=\"stroke:var(%s)\" stroke-width=\"2\" "
                "vector-effect=\"non-scaling-stroke\"/>\n",
                colour);
}

static uint64_t used_of(const struct level *l) {
    return l->used_bytes;
}

static uint64_t storage_of(const struct level *l) {
    return l->storage_bytes;
}

static uint64_t regions_of(const struct level *l) {
    return l->free_regions;
}

static uint64_t most_of(const struct grid *g, uint64_t (*of)(const struct level *)) {
    uint64_t most = 1;
    for (size_t i = 0; i < g->columns; i++)
        most = of(&g->levels[i]) > most ? of(&g->levels[i]) : most;
    return most;
}

static void put_event_marks(FILE *f, const struct run *run, const struct grid *g) {
    enum { MOST = 500 };
    for (size_t i = 0; i < run->event_count && i < MOST; i++) {
        const struct event *e = &run->events[i];
        fprintf(f,
                "<path d=\"M%.6g 0V%d\" style=\"stroke:var(--series-1)\" stroke-width=\"1\" "
                "stroke-dasharray=\"3 3\" "
                "vector-effect=\"non-scaling-stroke\"><title>%s, rank %" PRIu64 ", window %" PRIu64 ": ",
                e->seconds / g->step, HIGH, say_seconds(e->seconds), e->rank, e->window);
        page_text(f, say_event(e));
        fputs("</title></path>\n", f);
    }
}

void chart_levels(FILE *f, const struct run *run, const struct grid *g) {
    uint64_t most = g->rows ? most_of(g, storage_of) : 1;
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    plot_begin(f, "Occupancy: storage of all caches, and how much of it is used", false);
    for (int i = 0; i < TICKS; i++)
        plot_y_label(f, (double)i / (TICKS - 1), say_bytes(most / (TICKS - 1) * (uint64_t)(TICKS - 1 - i)));
    plot_draw(f, (double)g->columns, HIGH, "Storage and used storage over time");
    plot_grid_lines(f, (double)g->columns, HIGH);
    put_line(f, g, used_of, (double)most, "--series-0", true);
    put_line(f, g, used_of, (double)most, "--series-0", false);
    put_line(f, g, storage_of, (double)most, "--soft", false);
    put_event_marks(f, run, g);
    plot_drawn(f);
    time_labels(f, g);
    plot_end(f);
    fputs("<ul class=\"legend\"><li><i style=\"background:var(--series-0)\"></i>used</li><li><i "
          "style=\"background:var(--soft)\"></i>storage</li><li><i style=\"background:var(--series-1)\"></i>"
          "adaptation</li></ul>\n",
          f);
}

void chart_regions(FILE *f, const struct run *run, const struct grid *g) {
    uint64_t most = g->rows ? most_of(g, regions_of) : 1;
    char text[32];
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    plot_begin(f, "Fragmentation: free regions between the entries of all caches", false);
    for (int i = 0; i < TICKS; i++) {
        snprintf(text, sizeof text, most < 10 ? "%.3g" : "%.0f",
                 (double)most * (TICKS - 1 - i) / (TICKS - 1));
        plot_y_label(f, (double)i / (TICKS - 1), text);
    }
    plot_draw(f, (double)g->columns, HIGH, "Free regions over time");
    plot_grid_lines(f, (double)g->columns, HIGH);
    put_line(f, g, regions_of, (double)most, "--series-3", true);
    put_line(f, g, regions_of, (double)most, "--series-3", false);
    plot_drawn(f);
    time_labels(f, g);
    plot_end(f);
}

/* ---- sizes ---- */

/* The classes in use: [*first, *end). */
static uint64_t size_range(const struct run *run, unsigned *first, unsigned *end) {
    uint64_t most = 0;
    *first = SIZE_CLASSES;
    *end = 0;
    for (unsigned i = 0; i < SIZE_CLASSES; i++) {
        if (!run->sizes[i])
            continue;
        *first = i < *first ? i : *first;
        *end = i + 1;
        most = run->sizes[i] > most ? run->sizes[i] : most;
    }
    return most;
}

void chart_sizes(FILE *f, const struct run *run) {
    unsigned first, end;
    uint64_t most = size_range(run, &first, &end);
    if (!most) {
        page_missing(f, run->is_recorded ? "There were no gets." : not_recorded);
        return;
    }
    double classes = end - first;
    unsigned every = (end - first + 5) / 6;
    plot_begin(f, "Gets by size: each bar is for sizes from its label to below twice that", false);
    for (int i = 0; i < TICKS; i += 2)
        plot_y_label(f, (double)i / (TICKS - 1), say_count(most - most * (uint64_t)i / (TICKS - 1)));
    plot_draw(f, classes, HIGH, "Gets by size");
    plot_grid_lines(f, classes, HIGH);
    for (unsigned i = first; i < end; i++) {
        double height = HIGH * (double)run->sizes[i] / (double)most;
        fprintf(f,
                "<rect x=\"%.6g\" y=\"%.6g\" width=\"0.8\" height=\"%.6g\" style=\"fill:var(--series-0)\" "
                "data-class=\"%u\" "
                "data-count=\"%" PRIu64 "\"><title>from %s: %" PRIu64 " gets</title></rect>\n",
                i - first + 0.1, HIGH - height, height, i, run->sizes[i], say_size_class(i), run->sizes[i]);
    }
    plot_drawn(f);
    for (unsigned i = first; i < end; i += every)
        plot_x_label(f, (i - first + 0.5) / classes, say_size_class(i), (i - first) / every % 2);
    plot_end(f);
}

/* ---- hit ratio by cache size ---- */

enum { CURVES = 6 };

/* The range of powers of two that contains everything drawn. */
struct size_span chart_curve_span(const struct run *run) {
    double least = 62, most = 10;
    size_t drawn = 0;
    for (size_t i = 0; i < run->window_count && drawn < CURVES; i++) {
        const struct window_sum *w = &run->windows[i];
        if (!w->curve.is_there)
            continue;
        drawn++;
        double now = log2(fmax(1024, (double)(w->sum.storage_bytes / w->ranks)));
        double first = w->curve.count ? log2((double)w->curve.steps[0].bytes + 1) : now,
               last = w->curve.count ? log2((double)w->curve.steps[w->curve.count - 1].bytes + 1) : now;
        least = fmin(least, fmin(now, first));
        most = fmax(most, fmax(now, last));
    }
    return (struct size_span){
        .is_there = drawn > 0, .low = (int)fmax(0, floor(least - 0.5)), .high = (int)ceil(most + 0.5)};
}

struct size_span size_span_join(struct size_span a, struct size_span b) {
    if (!a.is_there || !b.is_there)
        return a.is_there ? a : b;
    a.low = b.low < a.low ? b.low : a.low;
    a.high = b.high > a.high ? b.high : a.high;
    return a;
}

static void put_curve(FILE *f, const struct window_sum *w, struct size_span s, int series) {
    double width = s.high - s.low;
    double y = 0;
    fprintf(f, "<path d=\"M0 %d", HIGH);
    for (size_t i = 0; i < w->curve.count; i++) {
        double x = fmax(0, log2((double)w->curve.steps[i].bytes) - s.low);
        fprintf(f, "L%.5g %.5g", fmin(x, width), HIGH * (1 - y));
        y = fmin(w->curve.steps[i].hits / (double)w->curve.gets, 1);
        fprintf(f, "L%.5g %.5g", fmin(x, width), HIGH * (1 - y));
    }
    fprintf(f,
            "L%.5g %.5g\" fill=\"none\" style=\"stroke:var(--series-%d)\" stroke-width=\"2\" "
            "vector-effect=\"non-scaling-stroke\" data-window=\"%" PRIu64 "\"><title>",
            width, HIGH * (1 - y), series, w->serial);
    page_text(f, say_window(w));
    fputs("</title></path>\n", f);
}

/* A line of length 0 with round ends: a circle would be stretched with the drawing. */
static void put_now(FILE *f, const struct window_sum *w, struct size_span s, int series) {
    double x = log2(fmax(1024, (double)(w->sum.storage_bytes / w->ranks))) - s.low;
    double now = share(counts_hits(&w->sum), w->curve.gets);
    fprintf(f,
            "<path d=\"M%.5g %.5gh0\" style=\"stroke:var(--series-%d)\" stroke-width=\"10\" "
            "stroke-linecap=\"round\" vector-effect=\"non-scaling-stroke\"><title>",
            x, HIGH * (1 - fmin(now, 1)), series);
    page_text(f, say_window(w));
    fprintf(f, " as it ran: %s on each rank, hit ratio %.3f</title></path>\n",
            say_bytes(w->sum.storage_bytes / w->ranks), now);
}

static void chart_put_curves(FILE *f, const struct run *run, struct size_span s) {
    int drawn = 0;
    for (size_t i = 0; i < run->window_count && drawn < CURVES; i++)
        if (run->windows[i].curve.is_there) {
            put_curve(f, &run->windows[i], s, drawn);
            put_now(f, &run->windows[i], s, drawn++);
        }
}

static size_t put_curve_legend(FILE *f, const struct run *run) {
    int drawn = 0;
    fputs("<ul class=\"legend\">", f);
    for (size_t i = 0; i < run->window_count && drawn < CURVES; i++)
        if (run->windows[i].curve.is_there)
            legend_item(f, "series", drawn++, say_window(&run->windows[i]));
    fputs("</ul>\n", f);
    return (size_t)drawn;
}

void chart_curves(FILE *f, const struct run *run, struct size_span s) {
    static const char *const ratios[TICKS] = {"1", "0.75", "0.5", "0.25", "0"};
    size_t there = 0;
    for (size_t i = 0; i < run->window_count; i++)
        there += run->windows[i].curve.is_there;
    if (!there) {
        page_missing(f, run->is_recorded ? "No get used a cache." : not_recorded);
        return;
    }
    s.high = s.high < s.low + 2 ? s.low + 2 : s.high;
    int width = s.high - s.low, every = (width + 4) / 5;
    plot_begin(f, "Hit ratio by size of each rank's cache, estimated; a dot is the measured value", false);
    for (int i = 0; i < TICKS; i++)
        plot_y_label(f, (double)i / (TICKS - 1), ratios[i]);
    plot_draw(f, width, HIGH, "Hit ratio against cache size");
    plot_grid_lines(f, width, HIGH);
    chart_put_curves(f, run, s);
    plot_drawn(f);
    for (int i = s.low; i <= s.high; i += every)
        plot_x_label(f, (double)(i - s.low) / width, say_size_class((unsigned)i), (i - s.low) / every % 2);
    plot_end(f);
    if (put_curve_legend(f, run) < there)
        fputs("<p class=\"note\">Only the windows with most gets are drawn.</p>\n", f);
}
