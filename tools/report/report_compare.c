/* report_compare.c: compares groups of runs: totals, time in MPI, settings, then window by window.
 *
 * A number is the median of a group's runs, with the least and the greatest. A difference between two groups is named only
 * if it is clear: there are at least RUNS_ENOUGH runs of each, and their ranges do not overlap. A run that did not reach MPI_Finalize
 * took less time and did less than a whole one: its group has no numbers. Windows are matched by name and by their index among the
 * windows of that name; those without a name, by index. */
#include "report/report_compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "observe/json_read.h"
#include "tools.h"

enum { CALLS = 8, WINDOWS = 10 };

/* ---- lines ---- */

static struct compare_line *compare_add(struct comparison *c, const char *what, bool is_heading) {
    c->lines = list_grown(c->lines, c->count, 1, sizeof *c->lines);
    struct compare_line *l = &c->lines[c->count++];
    *l = (struct compare_line){.what = need_copy(what), .is_heading = is_heading};
    if (!is_heading)
        l->cells = need(c->groups->count * sizeof *l->cells);
    return l;
}

enum kind { KIND_COUNT, KIND_RATIO, KIND_SECONDS };

static char *kind_text(enum kind kind, double value) {
    return kind == KIND_RATIO     ? need_text("%.4f", value)
           : kind == KIND_SECONDS ? need_text("%.4g", value)
                                  : need_text("%.15g", value);
}

/* The change of the median, as a share, or as a difference of ratios. */
static char *kind_change(enum kind kind, double a, double b) {
    if (kind == KIND_RATIO)
        return need_text("%+.4f", b - a);
    if (!(a > 0))
        return need_copy("new");
    return b / a >= 10 ? need_text("x %.3g", b / a) : need_text("%+.1f %%", 100 * (b / a - 1));
}

static bool range_is_same(const struct range *a, const struct range *b) {
    return a->least == b->least && a->median == b->median && a->most == b->most;
}

static void cell_fill(struct compare_cell *cell, enum kind kind, const struct compare_cell *first) {
    const struct range *r = &cell->range, *a = &first->range;
    cell->median = r->count ? kind_text(kind, r->median) : need_copy("-");
    if (r->count > 1 && r->least < r->most) {
        char *least = kind_text(kind, r->least), *most = kind_text(kind, r->most);
        cell->spread = need_text("%s..%s", least, most);
        free(least);
        free(most);
    } else {
        cell->spread = need_copy("");
    }
    bool is_same = cell == first || !a->count || !r->count || range_is_same(a, r);
    cell->change = is_same                ? need_copy("")
                   : range_is_apart(a, r) ? kind_change(kind, a->median, r->median)
                                          : need_copy("not clear");
}

/* values: of all runs, group by group; NAN: the run has none, and then neither has its group. */
static void add_numbers(struct comparison *c, const char *what, enum kind kind, const double *values) {
    struct compare_line *l = compare_add(c, what, false);
    for (size_t i = 0; i < c->groups->count; i++) {
        size_t count = c->groups->of[i].count;
        bool is_whole = true;
        for (size_t k = 0; k < count; k++)
            is_whole &= !isnan(values[k]);
        l->cells[i].range = range_of(values, is_whole ? count : 0);
        values += count;
    }
    for (size_t i = 0; i < c->groups->count; i++)
        cell_fill(&l->cells[i], kind, &l->cells[0]);
}

/* ---- totals, time in MPI ---- */

/* The values of all runs, to be freed. */
static double *values_of(const struct comparison *c, double (*of)(const struct run *, const void *),
                         const void *arg) {
    double *values = need(c->groups->path_count * sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < c->groups->count; i++)
        for (size_t k = 0; k < c->groups->of[i].count; k++)
            values[n++] = of(&c->groups->of[i].runs[k], arg);
    return values;
}

static void add_of(struct comparison *c, const char *what, enum kind kind,
                   double (*of)(const struct run *, const void *), const void *arg) {
    double *values = values_of(c, of, arg);
    add_numbers(c, what, kind, values);
    free(values);
}

static double ranks_of(const struct run *run, const void *arg) {
    (void)arg;
    return (double)run->rank_count;
}

static double compare_seconds_of(const struct run *run, const void *arg) {
    (void)arg;
    return run->partial ? NAN : run->seconds;
}

static bool has_mpi_time(const struct run *run) {
    return run->is_timed && run->rank_count && !run->partial;
}

static double mpi_seconds_each(const struct run *run, const void *arg) {
    (void)arg;
    return has_mpi_time(run) ? run->mpi_seconds / (double)run->rank_count : NAN;
}

double compare_call_seconds(const struct run *run, const char *call) {
    double sum = 0;
    if (!has_mpi_time(run))
        return NAN;
    for (size_t i = 0; i < run->call_count; i++)
        sum += strcmp(run->calls[i].name, call) ? 0 : run->calls[i].seconds;
    return sum / (double)run->rank_count;
}

static double call_seconds_of(const struct run *run, const void *call) {
    return compare_call_seconds(run, call);
}

struct weighed_call {
    const char *name;
    double seconds;
};

static int by_weight(const void *a, const void *b) {
    const struct weighed_call *x = a, *y = b;
    int order = (x->seconds < y->seconds) - (x->seconds > y->seconds);
    return order ? order : strcmp(x->name, y->name);
}

const char **compare_calls(const struct run_groups *groups, size_t most, size_t *count) {
    struct weighed_call *found = need(groups->count * most * sizeof *found);
    const char **names = need(most * sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < groups->count; i++) {
        const struct run *run = group_middle(&groups->of[i]);
        for (size_t k = 0; k < run->call_count && k < most; k++) {
            double seconds = compare_call_seconds(run, run->calls[k].name);
            size_t at = 0;
            while (at < n && strcmp(found[at].name, run->calls[k].name))
                at++;
            if (at == n)
                found[n++] = (struct weighed_call){.name = run->calls[k].name};
            found[at].seconds = fmax(found[at].seconds, seconds);
        }
    }
    if (n)
        qsort(found, n, sizeof *found, by_weight);
    for (*count = 0; *count < n && *count < most; (*count)++)
        names[*count] = found[*count].name;
    free(found);
    return names;
}

static void add_calls(struct comparison *c) {
    size_t count;
    const char **calls = compare_calls(c->groups, CALLS, &count);
    if (count)
        compare_add(c, "Time in MPI, seconds per rank", true);
    if (count)
        add_of(c, "in MPI", KIND_SECONDS, mpi_seconds_each, NULL);
    for (size_t i = 0; i < count; i++)
        add_of(c, calls[i], KIND_SECONDS, call_seconds_of, calls[i]);
    free(calls);
}

/* ---- counters ---- */

enum metric {
    METRIC_GETS,
    METRIC_RATIO,
    METRIC_TYPES,
    METRIC_SERVED = METRIC_TYPES + ACCESS_TYPES,
    METRIC_FETCHED,
    METRIC_ELIDED,
    METRIC_EVICTIONS,
    METRIC_STORAGE,
    METRICS
};

static const char *metric_name(int metric) {
    static const char *const others[] = {"bytes served", "bytes fetched", "flushes saved", "evictions",
                                         "storage bytes"};
    return metric == METRIC_GETS    ? "gets"
           : metric == METRIC_RATIO ? "hit ratio"
           : metric < METRIC_SERVED ? access_types[metric - METRIC_TYPES].name
                                    : others[metric - METRIC_SERVED];
}

static double metric_of(const struct counts *c, int metric) {
    const uint64_t others[] = {c->bytes_served, c->bytes_fetched, c->elided, c->evictions, c->storage_bytes};
    return metric == METRIC_GETS    ? (double)c->gets
           : metric == METRIC_RATIO ? counts_hit_ratio(c)
           : metric < METRIC_SERVED ? (double)counts_of_type(c, metric - METRIC_TYPES)
                                    : (double)others[metric - METRIC_SERVED];
}

/* counts: of all runs, NULL where there are none. Outcomes that no run has are left out. */
static void add_counts_of(struct comparison *c, const struct counts *const *counts) {
    double *values = need(c->groups->path_count * sizeof *values);
    for (int metric = 0; metric < METRICS; metric++) {
        bool is_any = metric < METRIC_TYPES || metric >= METRIC_SERVED;
        for (size_t i = 0; i < c->groups->path_count; i++) {
            values[i] = counts[i] ? metric_of(counts[i], metric) : NAN;
            is_any |= values[i] > 0;
        }
        if (is_any)
            add_numbers(c, metric_name(metric), metric == METRIC_RATIO ? KIND_RATIO : KIND_COUNT, values);
    }
    free(values);
}

static void add_totals(struct comparison *c) {
    const struct counts **counts = need(c->groups->path_count * sizeof *counts);
    bool has_gets = false;
    size_t n = 0;
    for (size_t i = 0; i < c->groups->count; i++)
        for (size_t k = 0; k < c->groups->of[i].count; k++) {
            const struct run *run = &c->groups->of[i].runs[k];
            counts[n++] = run->partial ? NULL : &run->all;
            has_gets |= run->all.gets > 0;
        }
    compare_add(c, "Totals", true);
    add_of(c, "ranks", KIND_COUNT, ranks_of, NULL);
    add_of(c, "seconds", KIND_SECONDS, compare_seconds_of, NULL);
    if (has_gets)
        add_counts_of(c, counts);
    free(counts);
}

/* ---- settings ---- */

/* texts: of all runs, group by group; NULL: the run has none. */
static void add_texts(struct comparison *c, const char *what, const char *const *texts) {
    struct compare_line *l = compare_add(c, what, false);
    for (size_t i = 0; i < c->groups->count; i++) {
        const char *text = texts[0] ? texts[0] : "-";
        for (size_t k = 1; k < c->groups->of[i].count; k++)
            text = strcmp(text, texts[k] ? texts[k] : "-") ? "(varies)" : text;
        texts += c->groups->of[i].count;
        l->cells[i] = (struct compare_cell){.median = need_copy(text), .spread = need_copy("")};
        l->cells[i].change = need_copy(strcmp(text, l->cells[0].median) ? "differs" : "");
    }
}

/* name: NULL: the version. */
static void add_setting(struct comparison *c, const char *name) {
    const char **texts = need(c->groups->path_count * sizeof *texts);
    size_t n = 0;
    for (size_t i = 0; i < c->groups->count; i++)
        for (size_t k = 0; k < c->groups->of[i].count; k++) {
            const struct run *run = &c->groups->of[i].runs[k];
            const struct json_value *v = name ? json_member(run->settings, name) : NULL;
            texts[n++] = !name ? run->version : v ? v->text : "(default)";
        }
    add_texts(c, name ? name : "version", texts);
    free(texts);
}

static bool has_line(const struct comparison *c, size_t from, const char *what) {
    for (size_t i = from; i < c->count; i++)
        if (!strcmp(c->lines[i].what, what))
            return true;
    return false;
}

/* HEARTH_REPORT names the report itself, so it always differs. */
static void add_settings(struct comparison *c) {
    compare_add(c, "Settings", true);
    size_t from = c->count;
    add_setting(c, NULL);
    for (size_t i = 0; i < c->groups->count; i++)
        for (size_t k = 0; k < c->groups->of[i].count; k++)
            for (const struct json_value *v = NULL; (v = json_next(c->groups->of[i].runs[k].settings, v));)
                if (strcmp(v->name, "HEARTH_REPORT") && !has_line(c, from, v->name))
                    add_setting(c, v->name);
}

/* ---- windows ---- */

/* The number of windows of the same name that were created before it. */
static size_t number_in_name(const struct run *run, const struct window_sum *w) {
    size_t n = 0;
    for (size_t i = 0; i < run->window_count; i++)
        n += run->windows[i].serial < w->serial && !strcmp(run->windows[i].name, w->name);
    return n;
}

static const struct window_sum *partner(const struct run *run, const char *name, size_t number) {
    for (size_t i = 0; i < run->window_count; i++)
        if (!strcmp(run->windows[i].name, name) && number_in_name(run, &run->windows[i]) == number)
            return &run->windows[i];
    return NULL;
}

static void add_window(struct comparison *c, const struct window_sum *w, size_t number) {
    const struct counts **counts = need(c->groups->path_count * sizeof *counts);
    const char **modes = need(c->groups->path_count * sizeof *modes);
    char *title = need_text("Window %s", say_window(w));
    size_t n = 0;
    for (size_t i = 0; i < c->groups->count; i++)
        for (size_t k = 0; k < c->groups->of[i].count; k++) {
            const struct run *run = &c->groups->of[i].runs[k];
            const struct window_sum *other = partner(run, w->name, number);
            modes[n] = other ? other->mode : NULL;
            counts[n++] = other && !run->partial ? &other->sum : NULL;
        }
    compare_add(c, title, true);
    add_texts(c, "mode", modes);
    add_counts_of(c, counts);
    free(title);
    free(modes);
    free(counts);
}

/* The windows with most gets of each group, each once. */
static void add_windows(struct comparison *c) {
    struct {
        const char *name;
        size_t number;
    } seen[WINDOWS];
    size_t count = 0;
    for (size_t i = 0; i < c->groups->count; i++) {
        const struct run *run = group_middle(&c->groups->of[i]);
        for (size_t k = 0; k < run->window_count && k < WINDOWS && count < WINDOWS; k++) {
            const struct window_sum *w = &run->windows[k];
            size_t number = number_in_name(run, w), at = 0;
            while (at < count && (strcmp(seen[at].name, w->name) || seen[at].number != number))
                at++;
            if (at < count || !w->sum.gets)
                continue;
            seen[count].name = w->name;
            seen[count++].number = number;
            add_window(c, w, number);
        }
    }
}

/* ---- verdict ---- */

static const struct compare_line *line_of(const struct comparison *c, const char *what) {
    for (size_t i = 0; i < c->count; i++)
        if (!c->lines[i].is_heading && !strcmp(c->lines[i].what, what))
            return &c->lines[i];
    return NULL;
}

static void verdict_append(char **text, char *more) {
    char *longer = need_text("%s%s%s", *text, **text ? " " : "", more);
    free(*text);
    free(more);
    *text = longer;
}

static char *say_runs(const struct range *r) {
    return need_text("%s (%zu run%s%s%s%s%s)", say_seconds(r->median), r->count, r->count == 1 ? "" : "s",
                     r->count > 1 ? ", " : "", r->count > 1 ? say_seconds(r->least) : "",
                     r->count > 1 ? " to " : "", r->count > 1 ? say_seconds(r->most) : "");
}

static char *judge_time(const char *a_name, const char *b_name, const struct range *a,
                        const struct range *b) {
    if (!(a->least > 0 && b->least > 0))
        return need_text("The run times of %s and %s are unknown.", a_name, b_name);
    char *x = say_runs(a), *y = say_runs(b), *text;
    if (range_is_apart(a, b)) {
        double factor = b->median < a->median ? a->median / b->median : b->median / a->median;
        text = need_text("%s is %.2f times %s than %s: %s instead of %s.", b_name, factor,
                         b->median < a->median ? "faster" : "slower", a_name, y, x);
    } else {
        bool enough = a->count >= RUNS_ENOUGH && b->count >= RUNS_ENOUGH;
        char *why = enough ? need_copy("these ranges overlap")
                           : need_text("at least %d runs of each are needed", RUNS_ENOUGH);
        text = need_text("Not clear whether %s is faster or slower than %s: %s took %s, %s took %s; %s.",
                         b_name, a_name, b_name, y, a_name, x, why);
        free(why);
    }
    free(x);
    free(y);
    return text;
}

/* Whether all runs of the group are whole; else the text says so. */
static bool judge_whole(const struct run_group *g, char **text) {
    size_t partial = group_partial(g);
    if (partial)
        verdict_append(text, need_text("Not comparable: %zu of %zu runs of %s did not reach MPI_Finalize.",
                                       partial, g->count, g->name));
    return !partial;
}

/* What the caches did, where the difference is clear. */
static void judge_hits(const struct comparison *c, size_t group, char **text) {
    const struct compare_line *hits = line_of(c, "hit ratio"), *bytes = line_of(c, "bytes fetched");
    const char *name = c->groups->of[group].name;
    if (hits && range_is_apart(&hits->cells[0].range, &hits->cells[group].range))
        verdict_append(text, need_text("Hit ratio of %s: %.2f instead of %.2f.", name,
                                       hits->cells[group].range.median, hits->cells[0].range.median));
    if (bytes && range_is_apart(&bytes->cells[0].range, &bytes->cells[group].range)) {
        double before = bytes->cells[0].range.median, after = bytes->cells[group].range.median;
        verdict_append(text, need_text("%s moves %s %s through MPI.", name,
                                       say_bytes((uint64_t)fabs(after - before)),
                                       after > before ? "more" : "less"));
    }
}

static char *compare_judge(const struct comparison *c) {
    const struct compare_line *seconds = line_of(c, "seconds"), *ranks = line_of(c, "ranks");
    char *text = need_copy("");
    bool differs = false, first_is_whole = judge_whole(&c->groups->of[0], &text);
    if (c->groups->count == 1 && first_is_whole) {
        char *runs = say_runs(&seconds->cells[0].range);
        verdict_append(&text, need_text("Run time: %s.", runs));
        free(runs);
    }
    for (size_t i = 1; i < c->groups->count; i++) {
        if (judge_whole(&c->groups->of[i], &text) && first_is_whole) {
            verdict_append(&text, judge_time(c->groups->of[0].name, c->groups->of[i].name,
                                             &seconds->cells[0].range, &seconds->cells[i].range));
            judge_hits(c, i, &text);
        }
        differs |= !range_is_same(&ranks->cells[0].range, &ranks->cells[i].range);
    }
    if (differs)
        verdict_append(&text, need_copy("The numbers of ranks differ."));
    return text;
}

void report_compare(const struct run_groups *groups, struct comparison *c) {
    *c = (struct comparison){.groups = groups};
    add_totals(c);
    add_calls(c);
    add_settings(c);
    add_windows(c);
    c->verdict = compare_judge(c);
}

void comparison_free(struct comparison *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->lines[i].what);
        for (size_t k = 0; c->lines[i].cells && k < c->groups->count; k++) {
            free(c->lines[i].cells[k].median);
            free(c->lines[i].cells[k].spread);
            free(c->lines[i].cells[k].change);
        }
        free(c->lines[i].cells);
    }
    free(c->lines);
    free(c->verdict);
    *c = (struct comparison){0};
}
