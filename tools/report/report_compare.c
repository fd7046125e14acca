/* report_compare.c: compares two runs: the totals, then window by window. Windows are matched by name and by their
 * index among the windows of that name; those without a name, by index. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "tools.h"

static struct difference *compare_add(struct comparison *c, char *what) {
    c->lines = list_grown(c->lines, c->count, 1, sizeof *c->lines);
    c->lines[c->count] = (struct difference){.what = what};
    return &c->lines[c->count++];
}

static void add_heading(struct comparison *c, const char *title) {
    struct difference *d = compare_add(c, need_copy(title));
    d->is_heading = true;
    d->a = need_copy("");
    d->b = need_copy("");
    d->change = need_copy("");
}

static void add_texts(struct comparison *c, const char *what, const char *a, const char *b) {
    struct difference *d = compare_add(c, need_copy(what));
    d->a = need_copy(a);
    d->b = need_copy(b);
    d->change = need_copy(strcmp(a, b) ? "differs" : "");
}

/* The relative change from a to b. */
static char *relative(double a, double b) {
    if (a == b)
        return need_copy("");
    if (!(a > 0))
        return need_copy("new");
    return b / a >= 10 ? need_text("x %.3g", b / a) : need_text("%+.1f %%", 100 * (b / a - 1));
}

static void add_count(struct comparison *c, const char *what, uint64_t a, uint64_t b) {
    struct difference *d = compare_add(c, need_copy(what));
    d->a = need_text("%" PRIu64, a);
    d->b = need_text("%" PRIu64, b);
    d->change = relative((double)a, (double)b);
}

static void add_ratio(struct comparison *c, const char *what, double a, double b) {
    struct difference *d = compare_add(c, need_copy(what));
    d->a = need_text("%.4f", a);
    d->b = need_text("%.4f", b);
    d->change = fabs(b - a) < 5e-5 ? need_copy("") : need_text("%+.4f", b - a);
}

static void add_seconds(struct comparison *c, const char *what, double a, double b) {
    struct difference *d = compare_add(c, need_copy(what));
    d->a = need_text("%.3f", a);
    d->b = need_text("%.3f", b);
    d->change = relative(a, b);
}

static void compare_counts(struct comparison *c, const struct counts *a, const struct counts *b) {
    add_count(c, "gets", a->gets, b->gets);
    add_ratio(c, "hit ratio", counts_hit_ratio(a), counts_hit_ratio(b));
    for (int i = 0; i < ACCESS_TYPES; i++)
        if (counts_of_type(a, i) || counts_of_type(b, i))
            add_count(c, access_types[i].name, counts_of_type(a, i), counts_of_type(b, i));
    add_count(c, "bytes served", a->bytes_served, b->bytes_served);
    add_count(c, "bytes fetched", a->bytes_fetched, b->bytes_fetched);
    add_count(c, "flushes saved", a->elided, b->elided);
    add_count(c, "evictions", a->evictions, b->evictions);
    add_count(c, "storage bytes", a->storage_bytes, b->storage_bytes);
}

/* ---- settings ---- */

static const char *setting(const struct run *run, const char *name) {
    const struct json_value *v = json_member(run->settings, name);
    return v ? v->text : "(default)";
}

static void compare_settings(struct comparison *c, const struct run *a, const struct run *b) {
    for (const struct json_value *v = NULL; (v = json_next(a->settings, v));)
        add_texts(c, v->name, v->text, setting(b, v->name));
    for (const struct json_value *v = NULL; (v = json_next(b->settings, v));)
        if (!json_member(a->settings, v->name))
            add_texts(c, v->name, setting(a, v->name), v->text);
}

/* ---- windows ---- */

/* The number of windows of the same name that were created before it. */
static size_t number_in_name(const struct run *run, const struct window_sum *w) {
    size_t n = 0;
    for (size_t i = 0; i < run->window_count; i++)
        n += run->windows[i].serial < w->serial && !strcmp(run->windows[i].name, w->name);
    return n;
}

static const struct window_sum *partner(const struct run *run, const struct window_sum *w,
                                        const struct run *of) {
    size_t number = number_in_name(of, w);
    for (size_t i = 0; i < run->window_count; i++) {
        const struct window_sum *other = &run->windows[i];
        if (!strcmp(other->name, w->name) && number_in_name(run, other) == number)
            return other;
    }
    return NULL;
}

static void compare_windows(struct comparison *c, const struct run *a, const struct run *b) {
    enum { MOST = 10 };
    for (size_t i = 0; i < a->window_count && i < MOST; i++) {
        const struct window_sum *x = &a->windows[i], *y = partner(b, x, a);
        if (!x->sum.gets && !(y && y->sum.gets))
            continue;
        char *title = need_text("Window %s%s", say_window(x), y ? "" : " (only in A)");
        add_heading(c, title);
        free(title);
        if (y) {
            add_texts(c, "mode", x->mode, y->mode);
            compare_counts(c, &x->sum, &y->sum);
        }
    }
    for (size_t i = 0; i < b->window_count && i < MOST; i++)
        if (b->windows[i].sum.gets && !partner(a, &b->windows[i], b)) {
            char *title = need_text("Window %s (only in B)", say_window(&b->windows[i]));
            add_heading(c, title);
            free(title);
        }
}

/* ---- verdict ---- */

static char *compare_judge(const struct run *a, const struct run *b) {
    double before = counts_hit_ratio(&a->all), after = counts_hit_ratio(&b->all);
    uint64_t x = a->all.bytes_fetched, y = b->all.bytes_fetched;
    const char *pace = b->seconds < a->seconds ? "faster" : "slower";
    double factor = b->seconds < a->seconds ? a->seconds / b->seconds : b->seconds / a->seconds;
    char *time = !(a->seconds > 0 && b->seconds > 0) ? need_copy("the times are unknown")
                 : factor < 1.02                     ? need_copy("B took as long as A")
                                                     : need_text("B was %.2f times %s", factor, pace);
    char *text = need_text("hit ratio %.2f -> %.2f; %s %s through MPI; %s%s", before, after,
                           say_bytes(y > x ? y - x : x - y), y > x ? "more" : "less", time,
                           a->rank_count != b->rank_count ? "; the numbers of ranks differ" : "");
    free(time);
    return text;
}

void report_compare(const struct run *a, const struct run *b, struct comparison *c) {
    *c = (struct comparison){.verdict = compare_judge(a, b)};
    add_heading(c, "Totals");
    add_count(c, "ranks", a->rank_count, b->rank_count);
    add_seconds(c, "seconds", a->seconds, b->seconds);
    compare_counts(c, &a->all, &b->all);
    add_heading(c, "Settings");
    add_texts(c, "version", a->version, b->version);
    compare_settings(c, a, b);
    compare_windows(c, a, b);
}

void comparison_free(struct comparison *c) {
    for (size_t i = 0; i < c->count; i++) {
        free(c->lines[i].what);
        free(c->lines[i].a);
        free(c->lines[i].b);
        free(c->lines[i].change);
    }
    free(c->lines);
    free(c->verdict);
    *c = (struct comparison){0};
}
