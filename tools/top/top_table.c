/* top_table.c: the jobs as lines of text: for each job a line with its name, a row for each of its processes on the
 * node, and one for their sum, marked *; or, of a folded job, a single line with the sum, marked +. Empty columns are omitted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"
#include "top/top.h"

const char top_nobody[] = "none of your running jobs on this node uses Hearth: start one with hearth run";

enum { FIRST_WIDTH = 14 /* of the columns rank and pid together */ };

/* ---- choice of columns ---- */

struct choice {
    unsigned of[64], count, hidden;
};

/* "live, 2 of 4 ranks" */
static char *folded_name(const struct top_job *j) {
    return need_text("%s%s%s, %zu of %d rank%s", j->program, j->host ? " on " : "", j->host ? j->host : "",
                     j->count, j->size, j->size == 1 ? "" : "s");
}

/* Room for the longest name of a folded job, but not more than a third of the screen. */
static unsigned folded_width(const struct top_jobs *jobs, unsigned width) {
    unsigned most = 0;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->of[i].is_folded) {
            char *name = folded_name(&jobs->of[i]);
            most = strlen(name) + 2 > most ? (unsigned)strlen(name) + 2 : most;
            free(name);
        }
    return most < width / 3 ? most : width / 3;
}

/* The columns in use that fit, including the sort column. */
static struct choice table_choose(const struct top_jobs *jobs, int selected, unsigned width) {
    unsigned used[64], count = 0, at = 0;
    for (unsigned i = 0; i < top_columns() && count < 64; i++)
        if (top_column_is_used(i, jobs)) {
            at = (int)i == selected ? count : at;
            used[count++] = i;
        }
    unsigned first_width = FIRST_WIDTH + folded_width(jobs, width);
    unsigned most = width > first_width ? (width - first_width) / TOP_COLUMN_WIDTH : 0;
    unsigned first = most && at >= most ? at + 1 - most : 0;
    struct choice c = {0};
    for (unsigned i = first; i < count && c.count < most; i++)
        c.of[c.count++] = used[i];
    c.hidden = count - c.count;
    return c;
}

int top_table_step(const struct top_jobs *jobs, int column, int way) {
    int last = (int)top_columns();
    for (int i = column + way; i >= 0 && i < last; i += way)
        if (top_column_is_used((unsigned)i, jobs))
            return i;
    return way < 0 ? -1 : column;
}

/* ---- the order of rows ---- */

static struct top_order current; /* order of the sort in progress */

static int by_value(double a, double b) {
    a = isnan(a) ? -1 : a;
    b = isnan(b) ? -1 : b;
    return a < b ? 1 : a > b ? -1 : 0; /* largest first */
}

static int table_compare(const void *a, const void *b) {
    const struct top_row *x = a, *y = b;
    int rank = x->rank < y->rank ? -1 : x->rank > y->rank;
    int order = current.column < 0 ? rank
                                   : by_value(top_column_value((unsigned)current.column, x),
                                              top_column_value((unsigned)current.column, y));
    order = current.is_reverse ? -order : order;
    return order ? order : rank ? rank : x->pid < y->pid ? -1 : 1;
}

static void table_sort(struct top_job *j, struct top_order order) {
    current = order;
    qsort(j->rows, j->count, sizeof *j->rows, table_compare);
}

/* ---- lines ---- */

static void table_append(struct top_table *t, enum top_line_kind kind, size_t job, char *text) {
    t->lines[t->count++] = (struct top_line){.kind = kind, .job = job, .text = text};
}

static char *print_columns(const struct choice *c, const struct top_row *row) {
    char *text = need(c->count * TOP_COLUMN_WIDTH + 1);
    for (unsigned i = 0; i < c->count; i++)
        top_column_print(c->of[i], row, text + i * TOP_COLUMN_WIDTH);
    return text;
}

static void table_add_row(struct top_table *t, const struct choice *c, size_t job,
                          const struct top_row *row) {
    char *columns = print_columns(c, row);
    if (row->rank < 0)
        table_append(t, TOP_LINE_SUM, job, need_text("%6s %7s%s", "*", "", columns));
    else
        table_append(t, TOP_LINE_ROW, job, need_text("%6d %7d%s", row->rank, row->pid, columns));
    free(columns);
}

static void add_folded(struct top_table *t, const struct choice *c, size_t number, const struct top_job *j) {
    char *columns = print_columns(c, &j->sum), *name = folded_name(j);
    table_append(t, TOP_LINE_FOLDED, number, need_text("%6s %7d%s  %s", "+", j->id, columns, name));
    free(name);
    free(columns);
}

static void add_job(struct top_table *t, const struct choice *c, size_t number, const struct top_job *j) {
    if (j->is_folded) {
        add_folded(t, c, number, j);
        return;
    }
    table_append(t, TOP_LINE_JOB, number,
                 need_text("job %d %s: %zu of %d rank%s %s%s%s", j->id, j->program, j->count, j->size,
                           j->size == 1 ? "" : "s", j->host ? "on " : "here", j->host ? j->host : "",
                           j->sum.is_partial ? ", some of their windows are not shown" : ""));
    for (size_t i = 0; i < j->count; i++)
        table_add_row(t, c, number, &j->rows[i]);
    if (j->count > 1)
        table_add_row(t, c, number, &j->sum);
}

static char *table_print_head(const struct choice *c, int selected, int *at) {
    char *text = need(FIRST_WIDTH + c->count * TOP_COLUMN_WIDTH + 1);
    int n = sprintf(text, "%6s %7s", "RANK", "PID");
    *at = selected < 0 ? 0 : -1;
    for (unsigned i = 0; i < c->count; i++) {
        if ((int)c->of[i] == selected)
            *at = n;
        n += sprintf(text + n, "%*s", TOP_COLUMN_WIDTH, top_column_name(c->of[i]));
    }
    return text;
}

void top_table_make(struct top_table *t, struct top_jobs *jobs, struct top_order order, unsigned width) {
    struct choice c = table_choose(jobs, order.column, width);
    size_t most = 0;
    for (size_t i = 0; i < jobs->count; i++)
        most += jobs->of[i].count + 2;
    *t = (struct top_table){.lines = need(most * sizeof *t->lines), .hidden = c.hidden};
    t->head = table_print_head(&c, order.column, &t->selected_at);
    for (size_t i = 0; i < jobs->count; i++) {
        table_sort(&jobs->of[i], order);
        add_job(t, &c, i, &jobs->of[i]);
    }
}

void top_table_free(struct top_table *t) {
    for (size_t i = 0; i < t->count; i++)
        free(t->lines[i].text);
    free(t->lines);
    free(t->head);
    *t = (struct top_table){0};
}
