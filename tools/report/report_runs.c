/* report_runs.c: see report_runs.h. */
#include "report/report_runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools.h"

/* ---- reading ---- */

static struct run_group *groups_add(struct run_groups *groups) {
    groups->of = list_grown(groups->of, groups->count, 1, sizeof *groups->of);
    struct run_group *g = &groups->of[groups->count++];
    *g = (struct run_group){0};
    if (groups->count <= 26)
        snprintf(g->name, sizeof g->name, "%c", (char)('A' + groups->count - 1));
    else
        snprintf(g->name, sizeof g->name, "%zu", groups->count % 1000000);
    return g;
}

static int group_add(struct run_groups *groups, struct run_group *g, char *path) {
    groups->paths = list_grown(groups->paths, groups->path_count, 1, sizeof *groups->paths);
    groups->paths[groups->path_count++] = path;
    for (size_t i = 0; i < g->count; i++)
        if (is_same_file(g->runs[i].path, path)) /* counted twice, it would make a difference look clear */
            return refuse("%s and %s are the same file: name every run of a group once", g->runs[i].path,
                          path);
    g->runs = list_grown(g->runs, g->count, 1, sizeof *g->runs);
    int err = report_read(path, &g->runs[g->count]);
    g->count += !err;
    return err;
}

/* Commas separate runs, unless there is a file of the whole name. */
static int group_add_list(struct run_groups *groups, struct run_group *g, const char *list) {
    if (!strchr(list, ',') || !access(list, F_OK))
        return group_add(groups, g, need_copy(list));
    for (const char *rest = list; rest;) {
        size_t length = strcspn(rest, ",");
        if (!length)
            return refuse("a name is missing in %s: write FILE,FILE,...", list);
        int err = group_add(groups, g, need_text("%.*s", (int)length, rest));
        if (err)
            return err;
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return 0;
}

int run_groups_read(char **arguments, int count, struct run_groups *groups) {
    bool has_colons = false;
    struct run_group *g = NULL;
    *groups = (struct run_groups){0};
    for (int i = 0; i < count; i++)
        has_colons |= !strcmp(arguments[i], ":");
    for (int i = 0; i < count; i++) {
        bool is_colon = !strcmp(arguments[i], ":");
        if (is_colon && (!g || i == count - 1))
            return refuse("runs are missing before or after a colon: write A.json ... : B.json ...");
        if (is_colon) {
            g = NULL;
            continue;
        }
        if (!g || !has_colons)
            g = groups_add(groups);
        int err = group_add_list(groups, g, arguments[i]);
        if (err)
            return err;
    }
    return 0;
}

void run_groups_free(struct run_groups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        for (size_t k = 0; k < groups->of[i].count; k++)
            report_free(&groups->of[i].runs[k]);
        free(groups->of[i].runs);
    }
    for (size_t i = 0; i < groups->path_count; i++)
        free(groups->paths[i]);
    free(groups->of);
    free(groups->paths);
    *groups = (struct run_groups){0};
}

/* ---- ranges ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct range range_of(const double *values, size_t count) {
    struct range r = {.count = count};
    double *sorted = need(count * sizeof *sorted);
    if (count) {
        memcpy(sorted, values, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_value);
        r.least = sorted[0];
        r.most = sorted[count - 1];
        r.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    }
    free(sorted);
    return r;
}

bool range_is_apart(const struct range *a, const struct range *b) {
    bool enough = a->count >= RUNS_ENOUGH && b->count >= RUNS_ENOUGH;
    return enough && (a->most < b->least || b->most < a->least);
}

size_t group_partial(const struct run_group *g) {
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++)
        count += g->runs[i].partial != NULL;
    return count;
}

/* Of an even number, the slower of the two in the middle. */
const struct run *group_middle(const struct run_group *g) {
    for (size_t i = 0; i < g->count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < g->count; k++)
            before += g->runs[k].seconds < g->runs[i].seconds ||
                      (g->runs[k].seconds == g->runs[i].seconds && k < i);
        if (before == g->count / 2)
            return &g->runs[i];
    }
    return &g->runs[0];
}
