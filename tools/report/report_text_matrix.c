/* report_text_matrix.c: one-sided operations and messages by origin and target, as text: all pairs of up to SIDE ranks; of more ranks
 * those of the nodes, if there are several but not more, and the pairs of ranks with most bytes. */
#include <stdlib.h>

#include "report/report_matrix.h"
#include "report/report_table.h"
#include "tools.h"

enum { SIDE = 16, PAIRS = 16 };

static void matrix_table(struct tables *tables, const struct matrix *m, bool is_time) {
    char *title = need_text("%s by origin (rows) and target (columns), by %s",
                            is_time ? "Time in calls" : "Bytes", m->nodes ? "node" : "rank");
    struct table *t = tables_add(tables, title, m->side + 1);
    free(title);
    strvec_add(&t->cells, m->nodes ? "Node" : "Rank");
    for (size_t column = 0; column < m->side; column++) {
        char *label = matrix_label(m, column);
        strvec_add(&t->cells, label);
        free(label);
    }
    for (size_t i = 0; i < m->side * m->side; i++) {
        const struct matrix_cell *c = &m->cells[i];
        if (i % m->side == 0) {
            char *label = matrix_label(m, i / m->side);
            strvec_add(&t->cells, label);
            free(label);
        }
        strvec_add(&t->cells, matrix_cell_is_empty(c) ? "-"
                              : is_time               ? say_seconds(c->seconds)
                                                      : say_bytes(c->bytes));
    }
}

static void matrix_tables(struct tables *tables, const struct matrix *m) {
    matrix_table(tables, m, false);
    matrix_table(tables, m, true);
}

static void pairs_table(struct tables *tables, struct flows *flows) {
    struct table *t = tables_add(tables, "Pairs of ranks with most bytes", 7);
    table_row(t, "Origin", "Target", "Gets", "Writes", "Messages", "Bytes", "Time in calls");
    flows_sort(flows);
    for (size_t i = 0; i < flows->count && i < PAIRS; i++) {
        const struct flow *w = &flows->of[i];
        table_row(t, say_plain(w->rank), say_plain(w->target), say_count(w->gets), say_count(w->puts),
                  say_count(w->messages), say_bytes(flow_bytes(w)), say_seconds(w->seconds));
    }
    if (flows->count > PAIRS)
        table_note(t, "%s more pairs.", say_count(flows->count - PAIRS + flows->other_targets));
}

void report_text_matrix(FILE *f, const struct run *run) {
    struct flows flows = run_flows(run);
    struct matrix *m = need(sizeof *m);
    struct nodes nodes = run_nodes(run);
    struct tables tables = {0};
    if (flows.count)
        matrix_of_ranks(run, &flows, m);
    if (flows.count && m->side <= SIDE) {
        matrix_tables(&tables, m);
    } else if (flows.count) {
        if (nodes.count > 1 && nodes.count <= SIDE) {
            matrix_of_nodes(run, &flows, &nodes, m);
            matrix_tables(&tables, m);
        }
        pairs_table(&tables, &flows);
    }
    if (tables.count)
        table_note(
            &tables.of[tables.count - 1],
            "Bytes of gets, whether the cache served them or not, of writes, and of messages that were "
            "sent. The time is that of calls that name the other rank, estimated from a sample.");
    tables_text(f, &tables);
    tables_free(&tables);
    nodes_free(&nodes);
    free(m);
    flows_free(&flows);
}
