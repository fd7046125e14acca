/* report_chart.c: charts as inline SVG. The drawing is stretched to the available width (preserveAspectRatio none),
 * so it contains no text: labels stand beside it, positioned by percentages. The meaning of a mark is in its title,
 * which browsers show, and in its data attributes. */
#include "report/report_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { HIGH = 1000, TICKS = 5 };

static const char not_recorded[] = "Not recorded: the run had HEARTH_RECORD=off, or made no window.";

/* ---- frames ---- */

static void begin_plot(FILE *f, const char *caption) {
    fprintf(f, "<figure><figcaption>%s</figcaption>\n<div class=\"plot\">\n<div class=\"y\">", caption);
}

static void y_label(FILE *f, double from_top, const char *text) {
    fprintf(f, "<span style=\"top:%.2f%%\">%s</span>", 100 * from_top, text);
}

static void begin_drawing(FILE *f, double width, double height, const char *what) {
    fprintf(f,
            "</div>\n<svg viewBox=\"0 0 %.6g %.6g\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s\">\n",
            width, height, what);
}

static void end_drawing(FILE *f) {
    fputs("</svg>\n<div class=\"x\">", f);
}

/* is_minor: hidden where there is little space. */
static void x_label(FILE *f, double from_left, const char *text, bool is_minor) {
    const char *side = from_left < 0.04   ? " class=\"first\""
                       : from_left > 0.96 ? " class=\"last\""
                       : is_minor         ? " class=\"minor\""
                                          : "";
    fprintf(f, "<span%s style=\"left:%.2f%%\">%s</span>", side, 100 * from_left, text);
}

static void end_plot(FILE *f) {
    fputs("</div>\n</div>\n</figure>\n", f);
}

/* Lines at the positions of the labels. */
static void grid_lines(FILE *f, double width, double height) {
    for (int i = 1; i < TICKS - 1; i++)
        fprintf(f,
                "<path d=\"M0 %.6gH%.6g\" stroke=\"#d9dde3\" stroke-width=\"1\" "
                "vector-effect=\"non-scaling-stroke\"/>\n",
                height * i / (TICKS - 1), width);
}

static void time_labels(FILE *f, const struct grid *g) {
    double end = (double)g->columns * g->step;
    for (int i = 0; i < TICKS; i++)
        x_label(f, (double)i / (TICKS - 1), i ? say_seconds(end * i / (TICKS - 1)) : "0", i % 2);
}

/* ---- heat maps ---- */

struct colour {
    double red, green, blue;
};

/* Light to dark, so that it also works without colour (ColorBrewer YlGnBu and YlOrRd). */
static const struct colour blues[] = {
    {255, 255, 204}, {161, 218, 180}, {65, 182, 196}, {44, 127, 184}, {37, 52, 148}};
static const struct colour reds[] = {
    {255, 255, 178}, {254, 204, 92}, {253, 141, 60}, {240, 59, 32}, {149, 0, 30}};

static void put_colour(FILE *f, const struct colour *scale, double x) {
    double at = fmax(0, fmin(x, 1)) * 4;
    int i = at >= 4 ? 3 : (int)at;
    double part = at - i;
    const struct colour *a = &scale[i], *b = &scale[i + 1];
    fprintf(f, "#%02x%02x%02x", (unsigned)(a->red + part * (b->red - a->red) + 0.5),
            (unsigned)(a->green + part * (b->green - a->green) + 0.5),
            (unsigned)(a->blue + part * (b->blue - a->blue) + 0.5));
}

static void put_scale(FILE *f, const struct colour *scale, const char *low, const char *high) {
    fputs("<div class=\"scale\" style=\"background:linear-gradient(90deg", f);
    for (int i = 0; i <= 8; i++) {
        putc(',', f);
        put_colour(f, scale, i / 8.0);
    }
    fprintf(f, ")\"></div><div class=\"ends\"><span>%s</span><span>%s</span></div>\n", low, high);
}

static void rank_labels(FILE *f, const struct run *run, const struct grid *g) {
    size_t every = (g->rows + 7) / 8;
    char text[48];
    for (size_t row = 0; row < g->rows; row += every) {
        size_t first = row * g->ranks_per_row;
        snprintf(text, sizeof text, "%s%" PRIu64, row ? "" : "rank ", run->rank[first].rank);
        y_label(f, ((double)row + 0.5) / (double)g->rows, text);
    }
}

static void put_rank_names(FILE *f, const struct run *run, const struct grid *g, size_t row) {
    size_t first = row * g->ranks_per_row, last = first + g->ranks_per_row - 1;
    last = last < run->rank_count ? last : run->rank_count - 1;
    fprintf(f, first == last ? "rank %" PRIu64 : "ranks %" PRIu64 " to %" PRIu64, run->rank[first].rank,
            run->rank[last].rank);
}

static void put_cell(FILE *f, const struct run *run, const struct grid *g, size_t row, size_t column,
                     const struct colour *scale, double value) {
    const struct cell *c = &g->cells[row * g->columns + column];
    fprintf(f, "<rect x=\"%zu\" y=\"%zu\" width=\"1\" height=\"1\" fill=\"", column, row);
    put_colour(f, scale, value);
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
                    const struct colour *scale, double (*value)(const struct cell *, double most),
                    double most) {
    begin_plot(f, caption);
    rank_labels(f, run, g);
    begin_drawing(f, (double)g->columns, (double)g->rows, caption);
    fputs("<g shape-rendering=\"crispEdges\">\n", f);
    for (size_t i = 0; i < g->rows * g->columns; i++)
        if (g->cells[i].gets || g->cells[i].bytes)
            put_cell(f, run, g, i / g->columns, i % g->columns, scale, value(&g->cells[i], most));
    fputs("</g>\n", f);
    end_drawing(f);
    time_labels(f, g);
    end_plot(f);
}

void chart_hit_map(FILE *f, const struct run *run, const struct grid *g) {
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    put_map(f, run, g, "Hit ratio by rank over time; grey: no gets", blues, chart_ratio_of, 1);
    put_scale(f, blues, "0", "1");
}

void chart_byte_map(FILE *f, const struct run *run, const struct grid *g) {
    uint64_t most = 1;
    for (size_t i = 0; i < g->rows * g->columns; i++)
        most = g->cells[i].bytes > most ? g->cells[i].bytes : most;
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    put_map(f, run, g, "Bytes requested by rank over time, served and fetched; grey: no gets", reds, bytes_of,
            (double)most);
    put_scale(f, reds, "0", say_bytes(most));
}

/* ---- lines over time ---- */

/* From the beginning of the first column to the end of the last. */
static void put_line(FILE *f, const struct grid *g, uint64_t (*of)(const struct level *), double most,
                     const char *colour, bool is_filled) {
    fprintf(f, "<path d=\"M0 %d", HIGH);
    for (size_t i = 0; i < g->columns; i++)
        fprintf(f, "%c%zu %.4g", 'L', i + 1, HIGH * (1 - (double)of(&g->levels[i]) / most));
    if (is_filled)
        fprintf(f, "L%zu %dZ\" fill=\"%s\" fill-opacity=\"0.35\"/>\n", g->columns, HIGH, colour);
    else
        fprintf(f,
                "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" vector-effect=\"non-scaling-stroke\"/>\n",
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
                "<path d=\"M%.6g 0V%d\" stroke=\"#d55e00\" stroke-width=\"1\" stroke-dasharray=\"3 3\" "
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
    begin_plot(f, "Occupancy: storage of all caches, and how much of it is used");
    for (int i = 0; i < TICKS; i++)
        y_label(f, (double)i / (TICKS - 1), say_bytes(most - most / (TICKS - 1) * (uint64_t)i));
    begin_drawing(f, (double)g->columns, HIGH, "Storage and used storage over time");
    grid_lines(f, (double)g->columns, HIGH);
    put_line(f, g, used_of, (double)most, "#0072b2", true);
    put_line(f, g, used_of, (double)most, "#0072b2", false);
    put_line(f, g, storage_of, (double)most, "#5b6472", false);
    put_event_marks(f, run, g);
    end_drawing(f);
    time_labels(f, g);
    end_plot(f);
    fputs("<ul class=\"legend\"><li><i style=\"background:#0072b2\"></i>used</li><li><i "
          "style=\"background:#5b6472\"></i>"
          "storage</li><li><i style=\"background:#d55e00\"></i>adaptation</li></ul>\n",
          f);
}

void chart_regions(FILE *f, const struct run *run, const struct grid *g) {
    uint64_t most = g->rows ? most_of(g, regions_of) : 1;
    char text[32];
    if (!g->rows) {
        page_missing(f, not_recorded);
        return;
    }
    begin_plot(f, "Fragmentation: free regions between the entries of all caches");
    for (int i = 0; i < TICKS; i++) {
        snprintf(text, sizeof text, most < 10 ? "%.3g" : "%.0f",
                 (double)most * (TICKS - 1 - i) / (TICKS - 1));
        y_label(f, (double)i / (TICKS - 1), text);
    }
    begin_drawing(f, (double)g->columns, HIGH, "Free regions over time");
    grid_lines(f, (double)g->columns, HIGH);
    put_line(f, g, regions_of, (double)most, "#cc79a7", true);
    put_line(f, g, regions_of, (double)most, "#cc79a7", false);
    end_drawing(f);
    time_labels(f, g);
    end_plot(f);
}

/* ---- bars ---- */

static void put_bar(FILE *f, const char *name, const struct counts *c) {
    double at = 0;
    fputs("<div>", f);
    page_text(f, name);
    fprintf(f, " <span class=\"note\">%s gets</span></div>\n", say_count(c->gets));
    fputs("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"access types "
          "of ",
          f);
    page_text(f, name);
    fputs("\">\n", f);
    for (int i = 0; i < ACCESS_TYPES; i++) {
        uint64_t count = counts_of_type(c, i);
        double width = 1000 * share(count, c->gets);
        if (!count)
            continue;
        fprintf(f,
                "<rect x=\"%.6g\" y=\"0\" width=\"%.6g\" height=\"10\" fill=\"%s\" data-type=\"%s\" "
                "data-count=\"%" PRIu64 "\"><title>%s: %" PRIu64 ", %s</title></rect>\n",
                at, width, access_types[i].colour, access_types[i].name, count, access_types[i].name, count,
                say_percent(share(count, c->gets)));
        at += width;
    }
    fputs("</svg>\n", f);
}

static void put_types_legend(FILE *f) {
    fputs("<ul class=\"legend\">", f);
    for (int i = 0; i < ACCESS_TYPES; i++)
        fprintf(f, "<li title=\"%s\"><i style=\"background:%s\"></i>%s</li>", access_types[i].meaning,
                access_types[i].colour, access_types[i].name);
    fputs("</ul>\n", f);
}

void chart_types(FILE *f, const struct run *run) {
    enum { MOST = 12 };
    size_t busy = run->window_count - run->silent_windows, shown = busy < MOST ? busy : MOST;
    if (!busy) {
        page_missing(f, "No window had gets.");
        return;
    }
    put_types_legend(f);
    fputs("<div class=\"bars\">\n", f);
    for (size_t i = 0; i < shown; i++)
        put_bar(f, say_window(&run->windows[i]), &run->windows[i].sum);
    if (busy > 1)
        put_bar(f, "all windows", &run->all);
    fputs("</div>\n", f);
    if (busy > shown || run->silent_windows)
        fprintf(f, "<p class=\"note\">%zu more windows had gets, %zu had none.</p>\n", busy - shown,
                run->silent_windows);
}

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
    begin_plot(f, "Gets by size: each bar is for sizes from its label to below twice that");
    for (int i = 0; i < TICKS; i += 2)
        y_label(f, (double)i / (TICKS - 1), say_count(most - most * (uint64_t)i / (TICKS - 1)));
    begin_drawing(f, classes, HIGH, "Gets by size");
    grid_lines(f, classes, HIGH);
    for (unsigned i = first; i < end; i++) {
        double height = HIGH * (double)run->sizes[i] / (double)most;
        fprintf(
            f,
            "<rect x=\"%.6g\" y=\"%.6g\" width=\"0.8\" height=\"%.6g\" fill=\"#0072b2\" data-class=\"%u\" "
            "data-count=\"%" PRIu64 "\"><title>from %s: %" PRIu64 " gets</title></rect>\n",
            i - first + 0.1, HIGH - height, height, i, run->sizes[i], say_size_class(i), run->sizes[i]);
    }
    end_drawing(f);
    for (unsigned i = first; i < end; i += every)
        x_label(f, (i - first + 0.5) / classes, say_size_class(i), (i - first) / every % 2);
    end_plot(f);
}

/* ---- hit ratio by cache size ---- */

enum { CURVES = 6 };
static const char *const curve_colours[CURVES] = {"#0072b2", "#d55e00", "#009e73",
                                                  "#cc79a7", "#e69f00", "#56b4e9"};

/* The range of powers of two that contains everything drawn. */
static void size_span(const struct run *run, int *low, int *high) {
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
    *low = (int)fmax(0, floor(least - 0.5));
    *high = (int)ceil(most + 0.5);
    *high = *high < *low + 2 ? *low + 2 : *high;
}

static void put_curve(FILE *f, const struct window_sum *w, int low, int high, const char *colour) {
    double width = high - low;
    double y = 0;
    fprintf(f, "<path d=\"M0 %d", HIGH);
    for (size_t i = 0; i < w->curve.count; i++) {
        double x = fmax(0, log2((double)w->curve.steps[i].bytes) - low);
        fprintf(f, "L%.5g %.5g", fmin(x, width), HIGH * (1 - y));
        y = fmin(w->curve.steps[i].hits / (double)w->curve.gets, 1);
        fprintf(f, "L%.5g %.5g", fmin(x, width), HIGH * (1 - y));
    }
    fprintf(
        f,
        "L%.5g %.5g\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\" vector-effect=\"non-scaling-stroke\" "
        "data-window=\"%" PRIu64 "\"><title>",
        width, HIGH * (1 - y), colour, w->serial);
    page_text(f, say_window(w));
    fputs("</title></path>\n", f);
}

/* A line of length 0 with round ends: a circle would be stretched with the drawing. */
static void put_now(FILE *f, const struct window_sum *w, int low, const char *colour) {
    double x = log2(fmax(1024, (double)(w->sum.storage_bytes / w->ranks))) - low;
    double now = share(counts_hits(&w->sum), w->curve.gets);
    fprintf(f,
            "<path d=\"M%.5g %.5gh0\" stroke=\"%s\" stroke-width=\"10\" stroke-linecap=\"round\" "
            "vector-effect=\"non-scaling-stroke\"><title>",
            x, HIGH * (1 - fmin(now, 1)), colour);
    page_text(f, say_window(w));
    fprintf(f, " as it ran: %s on each rank, hit ratio %.3f</title></path>\n",
            say_bytes(w->sum.storage_bytes / w->ranks), now);
}

static void chart_put_curves(FILE *f, const struct run *run, int low, int high) {
    for (size_t i = 0, drawn = 0; i < run->window_count && drawn < CURVES; i++)
        if (run->windows[i].curve.is_there) {
            put_curve(f, &run->windows[i], low, high, curve_colours[drawn]);
            put_now(f, &run->windows[i], low, curve_colours[drawn++]);
        }
}

static size_t put_curve_legend(FILE *f, const struct run *run) {
    size_t drawn = 0;
    fputs("<ul class=\"legend\">", f);
    for (size_t i = 0; i < run->window_count && drawn < CURVES; i++)
        if (run->windows[i].curve.is_there) {
            fprintf(f, "<li><i style=\"background:%s\"></i>", curve_colours[drawn++]);
            page_text(f, say_window(&run->windows[i]));
            fputs("</li>", f);
        }
    fputs("</ul>\n", f);
    return drawn;
}

void chart_curves(FILE *f, const struct run *run) {
    static const char *const ratios[TICKS] = {"1", "0.75", "0.5", "0.25", "0"};
    int low, high;
    size_t there = 0;
    for (size_t i = 0; i < run->window_count; i++)
        there += run->windows[i].curve.is_there;
    if (!there) {
        page_missing(f, run->is_recorded ? "No get used a cache." : not_recorded);
        return;
    }
    size_span(run, &low, &high);
    begin_plot(f, "Hit ratio by size of each rank's cache, estimated; a dot is the measured value");
    for (int i = 0; i < TICKS; i++)
        y_label(f, (double)i / (TICKS - 1), ratios[i]);
    begin_drawing(f, high - low, HIGH, "Hit ratio against cache size");
    grid_lines(f, high - low, HIGH);
    chart_put_curves(f, run, low, high);
    end_drawing(f);
    int every = (high - low + 4) / 5;
    for (int i = low; i <= high; i += every)
        x_label(f, (double)(i - low) / (high - low), say_size_class((unsigned)i), (i - low) / every % 2);
    end_plot(f);
    if (put_curve_legend(f, run) < there)
        fputs("<p class=\"note\">Only the windows with most gets are drawn.</p>\n", f);
}
