/* report_matrix.c: reads the operations and messages by origin and target from the JSON of a run, where each process has parallel
 * lists: of its targets, and of the counts for each of them. */
#include "report/report_matrix.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

enum { LISTS = 8 };
static const char *const list_names[LISTS] = {"ranks",     "gets",     "get_bytes",     "puts",
                                              "put_bytes", "messages", "message_bytes", "nanoseconds"};

static bool list_is_valid(const struct json_value *list, size_t size) {
    if (!list || list->kind != JSON_ARRAY || list->size != size)
        return false;
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        if (!v->is_count)
            return false;
    return true;
}

bool flows_are_valid(const struct json_value *process) {
    const struct json_value *targets = json_member(process, "targets");
    const struct json_value *first = json_member(targets, list_names[0]), *others;
    if (!targets)
        return true;
    for (int i = 0; i < LISTS; i++)
        if (!first || !list_is_valid(json_member(targets, list_names[i]), first->size))
            return false;
    others = json_member(targets, "others");
    for (int i = 1; i < LISTS; i++) {
        const struct json_value *v = json_member(others, list_names[i]);
        if (!v || !v->is_count)
            return false;
    }
    const struct json_value *count = json_member(others, "targets");
    return count && count->is_count;
}

static void flow_set(struct flow *f, const uint64_t values[LISTS]) {
    f->target = values[0];
    f->gets = values[1];
    f->get_bytes = values[2];
    f->puts = values[3];
    f->put_bytes = values[4];
    f->messages = values[5];
    f->message_bytes = values[6];
    f->seconds = (double)values[7] / 1e9;
}

static void flows_add_rows(struct flows *f, uint64_t rank, const struct json_value *targets) {
    const struct json_value *lists[LISTS], *at[LISTS] = {0};
    for (int i = 0; i < LISTS; i++)
        lists[i] = json_member(targets, list_names[i]);
    f->of = list_grown(f->of, f->count, lists[0]->size, sizeof *f->of);
    for (size_t row = 0; row < lists[0]->size; row++) {
        uint64_t values[LISTS];
        for (int i = 0; i < LISTS; i++) {
            at[i] = json_next(lists[i], at[i]);
            values[i] = at[i]->count;
        }
        f->of[f->count].rank = rank;
        flow_set(&f->of[f->count++], values);
    }
}

static void flows_add_others(struct flows *f, const struct json_value *others) {
    uint64_t values[LISTS] = {0};
    struct flow more = {0};
    for (int i = 1; i < LISTS; i++)
        values[i] = json_member(others, list_names[i])->count;
    flow_set(&more, values);
    f->others.gets += more.gets;
    f->others.get_bytes += more.get_bytes;
    f->others.puts += more.puts;
    f->others.put_bytes += more.put_bytes;
    f->others.messages += more.messages;
    f->others.message_bytes += more.message_bytes;
    f->others.seconds += more.seconds;
    f->other_targets += json_member(others, "targets")->count;
}

struct flows run_flows(const struct run *run) {
    struct flows f = {0};
    const struct json_value *processes = json_member(run->root, "processes");
    for (const struct json_value *p = NULL; (p = json_next(processes, p));) {
        const struct json_value *targets = json_member(p, "targets");
        if (!targets)
            continue;
        f.is_there = true;
        flows_add_rows(&f, json_member(p, "rank")->count, targets);
        flows_add_others(&f, json_member(targets, "others"));
    }
    return f;
}

void flows_free(struct flows *f) {
    free(f->of);
    *f = (struct flows){0};
}

uint64_t flow_bytes(const struct flow *f) {
    return f->get_bytes + f->put_bytes + f->message_bytes;
}

static int flow_by_bytes(const void *a, const void *b) {
    const struct flow *x = a, *y = b;
    uint64_t p = flow_bytes(x), q = flow_bytes(y);
    return p != q ? (p < q) - (p > q) : (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

void flows_sort(struct flows *f) {
    qsort(f->of, f->count, sizeof *f->of, flow_by_bytes);
}

/* ---- as a matrix ---- */

static void matrix_open(struct matrix *m, const struct nodes *nodes, uint64_t things) {
    *m = (struct matrix){.nodes = nodes, .each = (things - 1) / MATRIX_SIDE + 1};
    m->side = (size_t)((things - 1) / m->each + 1);
}

static void matrix_add(struct matrix *m, uint64_t origin, uint64_t target, const struct flow *f) {
    struct matrix_cell *c = &m->cells[origin / m->each * m->side + target / m->each];
    c->gets += f->gets;
    c->puts += f->puts;
    c->messages += f->messages;
    c->bytes += flow_bytes(f);
    c->seconds += f->seconds;
    m->most_bytes = c->bytes > m->most_bytes ? c->bytes : m->most_bytes;
    m->most_seconds = fmax(m->most_seconds, c->seconds);
}

void matrix_of_ranks(const struct run *run, const struct flows *flows, struct matrix *m) {
    uint64_t ranks = run->rank_count ? run->rank[run->rank_count - 1].rank : 0;
    for (size_t i = 0; i < flows->count; i++)
        ranks = flows->of[i].target > ranks ? flows->of[i].target : ranks;
    matrix_open(m, NULL, ranks == UINT64_MAX ? ranks : ranks + 1);
    for (size_t i = 0; i < flows->count; i++)
        if (flows->of[i].rank < UINT64_MAX && flows->of[i].target < UINT64_MAX)
            matrix_add(m, flows->of[i].rank, flows->of[i].target, &flows->of[i]);
}

void matrix_of_nodes(const struct run *run, const struct flows *flows, const struct nodes *nodes,
                     struct matrix *m) {
    size_t *node_of = need(run->rank_count * sizeof *node_of);
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t k = 0; k < nodes->of[i].count; k++)
            node_of[nodes->order[nodes->of[i].first + k]] = i;
    matrix_open(m, nodes, nodes->count);
    for (size_t i = 0; i < flows->count; i++) {
        size_t origin = run_rank_index(run, flows->of[i].rank),
               target = run_rank_index(run, flows->of[i].target);
        if (origin < run->rank_count && target < run->rank_count)
            matrix_add(m, node_of[origin], node_of[target], &flows->of[i]);
    }
    free(node_of);
}

bool matrix_cell_is_empty(const struct matrix_cell *c) {
    return !c->gets && !c->puts && !c->messages && c->seconds <= 0;
}

/* Hosts of clusters begin alike, so the end of a long name is kept. */
char *matrix_label(const struct matrix *m, size_t row) {
    enum { MOST = 8 };
    uint64_t first = row * m->each;
    if (!m->nodes)
        return need_text("%" PRIu64, first);
    const char *host = m->nodes->of[first].host;
    size_t length = strlen(host), cut = length > MOST ? length - MOST : 0;
    while (cut && ((unsigned char)host[cut] & 0xc0) == 0x80) /* inside a character */
        cut++;
    return need_text("%s%s", cut ? "\xe2\x80\xa6" : "", host + cut);
}
