/* report_html_matrix.c: one-sided operations and messages by origin and target, as heat maps: by rank, and by node if there are several. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_matrix.h"
#include "report/html/report_nodes.h"
#include "report/html/report_plot.h"
#include "tools.h"

enum { PAIRS = 10 };

/* ---- drawing ---- */

/* "rank 3", "ranks 4 to 7", "node a", "nodes a to b" */
static void put_matrix_name(FILE *f, const struct matrix *m, size_t row) {
    uint64_t first = row * m->each, last = first + m->each - 1;
    if (!m->nodes) {
        fprintf(f, first == last ? "rank %" PRIu64 : "ranks %" PRIu64 " to %" PRIu64, first, last);
        return;
    }
    last = last < m->nodes->count ? last : m->nodes->count - 1;
    fputs(first == last ? "node " : "nodes ", f);
    page_text(f, m->nodes->of[first].host);
    if (first != last) {
        fputs(" to ", f);
        page_text(f, m->nodes->of[last].host);
    }
}

static void put_matrix_labels(FILE *f, const struct matrix *m, bool is_y) {
    size_t every = (m->side + 7) / 8;
    for (size_t row = 0; row < m->side; row += every) {
        char *label = matrix_label(m, row), *safe = NULL;
        size_t length;
        FILE *text = open_memstream(&safe, &length); /* host names are not trusted */
        if (text) {
            page_text(text, label);
            fclose(text);
        }
        double at = ((double)row + 0.5) / (double)m->side;
        if (is_y)
            plot_y_label(f, at, safe ? safe : "");
        else
            plot_x_label(f, at, safe ? safe : "", row / every % 2);
        free(safe);
        free(label);
    }
}

static void put_matrix_cell(FILE *f, const struct matrix *m, size_t i, enum heat scale, double value) {
    const struct matrix_cell *c = &m->cells[i];
    fprintf(f,
            "<rect x=\"%zu\" y=\"%zu\" width=\"1\" height=\"1\" class=\"%s\" data-gets=\"%" PRIu64
            "\" data-puts=\"%" PRIu64 "\" data-messages=\"%" PRIu64 "\" data-bytes=\"%" PRIu64
            "\" data-seconds=\"%.9g\"><title>",
            i % m->side, i / m->side, heat_class(scale, value), c->gets, c->puts, c->messages, c->bytes,
            c->seconds);
    put_matrix_name(f, m, i / m->side);
    fputs(" to ", f);
    put_matrix_name(f, m, i % m->side);
    fprintf(f, ": %" PRIu64 " gets, %" PRIu64 " writes, %" PRIu64 " messages; %s, %s</title></rect>\n",
            c->gets, c->puts, c->messages, say_bytes(c->bytes), say_seconds(c->seconds));
}

/* Square root: a few pairs have most of it, and the others should still be distinguishable. */
static void put_matrix(FILE *f, const struct matrix *m, bool is_time) {
    const char *what = m->nodes ? "node" : "rank";
    char *caption = need_text("%s, origins downwards, targets to the right; by %s; empty: none",
                              is_time ? "Time in calls" : "Bytes", what);
    enum heat scale = is_time ? HEAT_WARM : HEAT_COOL;
    plot_begin(f, caption, true);
    put_matrix_labels(f, m, true);
    plot_draw(f, (double)m->side, (double)m->side, caption);
    fputs("<g shape-rendering=\"crispEdges\">\n", f);
    for (size_t i = 0; i < m->side * m->side; i++) {
        const struct matrix_cell *c = &m->cells[i];
        double value = is_time ? c->seconds / fmax(m->most_seconds, 1e-30)
                               : (double)c->bytes / fmax((double)m->most_bytes, 1);
        if (!matrix_cell_is_empty(c))
            put_matrix_cell(f, m, i, scale, sqrt(value));
    }
    fputs("</g>\n", f);
    plot_drawn(f);
    put_matrix_labels(f, m, false);
    plot_end(f);
    heat_scale(f, scale, "0", is_time ? say_seconds(m->most_seconds) : say_bytes(m->most_bytes));
    free(caption);
}

static void put_matrix_pair(FILE *f, const struct matrix *m, const char *id) {
    fprintf(f, "<div class=\"pair\">\n<div id=\"%s-bytes\">\n", id);
    put_matrix(f, m, false);
    fprintf(f, "</div>\n<div id=\"%s-time\">\n", id);
    put_matrix(f, m, true);
    fputs("</div>\n</div>\n", f);
}

/* ---- by rank, by node ---- */

static void put_matrix_of_nodes(FILE *f, const struct run *run, const struct flows *flows, struct matrix *m) {
    struct nodes n = run_nodes(run);
    matrix_of_nodes(run, flows, &n, m);
    put_matrix_pair(f, m, "node-matrix");
    nodes_free(&n);
}

/* ---- the largest ---- */

static void put_largest(FILE *f, struct flows *flows) {
    flows_sort(flows);
    page_table(f, "Pairs with most bytes");
    fputs("<tr><th>origin</th><th>target</th><th>gets</th><th>bytes</th><th>writes</th><th>bytes</th>"
          "<th>messages</th><th>bytes</th><th>time in calls</th></tr>\n",
          f);
    for (size_t i = 0; i < flows->count && i < PAIRS; i++) {
        const struct flow *w = &flows->of[i];
        fprintf(f, "<tr><td>%" PRIu64 "</td><td>%" PRIu64 "</td>", w->rank, w->target);
        cell_count(f, "gets", w->gets);
        cell_bytes(f, "get-bytes", w->get_bytes);
        cell_count(f, "puts", w->puts);
        cell_bytes(f, "put-bytes", w->put_bytes);
        cell_count(f, "messages", w->messages);
        cell_bytes(f, "message-bytes", w->message_bytes);
        cell_seconds(f, "seconds", w->seconds);
        fputs("</tr>\n", f);
    }
    page_table_end(f);
}

void html_matrix(FILE *f, const struct run *run) {
    struct flows flows = run_flows(run);
    struct matrix *m = need(sizeof *m);
    if (flows.count) {
        page_section(f, "matrix", "By origin and target");
        matrix_of_ranks(run, &flows, m);
        put_matrix_pair(f, m, "matrix");
        if (run->host_count > 1)
            put_matrix_of_nodes(f, run, &flows, m);
        put_largest(f, &flows);
        fputs("<p class=\"note\">Bytes of gets, whether the cache served them or not, of writes and of "
              "messages that were "
              "sent; the time of calls that name the other rank, estimated from a sample.</p>\n",
              f);
        if (flows.other_targets)
            fprintf(f,
                    "<p class=\"note\">Not shown: pairs with fewer bytes, %s gets, %s writes and %s messages "
                    "of %s in "
                    "all.</p>\n",
                    say_count(flows.others.gets), say_count(flows.others.puts),
                    say_count(flows.others.messages), say_bytes(flow_bytes(&flows.others)));
        page_section_end(f);
    }
    free(m);
    flows_free(&flows);
}
