/* report_matrix.c: reads the operations and messages by origin and target from the JSON of a run, where each process has parallel
 * lists: of its targets, and of the counts for each of them. */
#include "report/report_matrix.h"

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
