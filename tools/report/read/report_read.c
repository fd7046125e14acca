/* report_read.c: parses the JSON of a run into struct run.
 *
 * A report may be truncated, edited, or written by another program or another version of Hearth. So nothing is
 * trusted: each value is looked up by name and type. The first missing one is recorded with its location, and reads
 * as 0. At the end one error reports it. Data that was not recorded is not an error. */
#include "report/read/report_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "observe/bypass_reason.h"
#include "report/read/report_load.h"
#include "report/report_matrix.h"
#include "tools.h"

enum { FORMAT = 2 };

void read_complain(struct trouble *t, const struct json_value *in, const char *name, const char *kind) {
    if (t->is_there)
        return;
    t->is_there = true;
    snprintf(t->what, sizeof t->what, "%s%s has no %s \"%s\"",
             in && in->name ? "the part " : "one of its parts", in && in->name ? in->name : "", kind, name);
}

/* ---- single values ---- */

uint64_t read_count(struct trouble *t, const struct json_value *in, const char *name) {
    const struct json_value *v = json_member(in, name);
    if (v && v->is_count)
        return v->count;
    read_complain(t, in, name, "count");
    return 0;
}

double read_number(struct trouble *t, const struct json_value *in, const char *name) {
    const struct json_value *v = json_member(in, name);
    if (v && v->kind == JSON_NUMBER && v->number >= 0)
        return v->number;
    read_complain(t, in, name, "number");
    return 0;
}

const char *read_text(struct trouble *t, const struct json_value *in, const char *name) {
    const struct json_value *v = json_member(in, name);
    if (v && v->kind == JSON_STRING)
        return v->text;
    read_complain(t, in, name, "text");
    return "";
}

const struct json_value *read_part(struct trouble *t, const struct json_value *in, const char *name,
                                   enum json_kind kind) {
    static const struct json_value nothing = {.kind = JSON_ARRAY, .span = 1, .text = ""};
    const struct json_value *v = json_member(in, name);
    if (v && v->kind == kind)
        return v;
    read_complain(t, in, name, kind == JSON_ARRAY ? "list" : "part");
    return &nothing;
}

uint64_t *read_list(struct trouble *t, const struct json_value *in, const char *name, size_t *count) {
    const struct json_value *list = read_part(t, in, name, JSON_ARRAY);
    uint64_t *values = need(list->size * sizeof *values);
    *count = 0;
    for (const struct json_value *v = NULL; (v = json_next(list, v));) {
        if (!v->is_count)
            read_complain(t, in, name, "list of counts");
        values[(*count)++] = v->count;
    }
    return values;
}

void read_histogram(struct trouble *t, const struct json_value *in, const char *name, uint64_t *sums,
                    size_t room) {
    size_t count;
    uint64_t *values = read_list(t, in, name, &count);
    for (size_t i = 0; i < count; i++)
        sums[i < room ? i : room - 1] += values[i];
    free(values);
}

/* ---- windows and ranks ---- */

static void add_counts(struct counts *sum, const struct counts *more) {
#define X(name) sum->name += more->name;
    REPORT_COUNTS(X)
#undef X
}

static struct rank_sum *find_rank(struct run *run, uint64_t rank) {
    if (rank < run->rank_count && run->rank[rank].rank == rank)
        return &run->rank[rank]; /* the common case */
    for (size_t i = run->rank_count; i--;)
        if (run->rank[i].rank == rank)
            return &run->rank[i];
    run->rank = list_grown(run->rank, run->rank_count, 1, sizeof *run->rank);
    run->rank[run->rank_count] = (struct rank_sum){.rank = rank, .host = ""};
    return &run->rank[run->rank_count++];
}

static struct window_sum *find_window(struct run *run, uint64_t serial) {
    for (size_t i = run->window_count; i--;) /* mostly in order of their numbers */
        if (run->windows[i].serial == serial)
            return &run->windows[i];
    return NULL;
}

const struct window_sum *run_window(const struct run *run, uint64_t serial) {
    return find_window((struct run *)run, serial);
}

static void read_whatif(struct trouble *t, const struct json_value *in, struct window_sum *w) {
    const struct json_value *f = json_member(in, "foresight");
    if (!f)
        return;
    uint64_t gets = read_count(t, f, "gets");
    w->whatif.gets += gets;
    w->whatif.acquire += read_number(t, f, "acquire") * (double)gets;
    w->whatif.always += read_number(t, f, "always") * (double)gets;
}

/* Older reports have none. */
static void read_reasons(const struct json_value *in, struct window_sum *w) {
    const struct json_value *why = json_member(in, "bypassed_why");
    for (int i = 0; why && i < BYPASS_REASONS; i++) {
        const struct json_value *v = json_member(why, bypass_reason_name(i));
        w->why[i] += v && v->is_count ? v->count : 0;
    }
}

/* Only windows whose cache was suspended have them. */
static void read_suspension(struct trouble *t, const struct json_value *in, struct window_sum *w) {
    if (!json_member(in, "cache_took_seconds"))
        return;
    w->cache_seconds.took += read_number(t, in, "cache_took_seconds");
    w->cache_seconds.saved += read_number(t, in, "cache_saved_seconds");
}

static void read_operations(struct trouble *t, const struct json_value *in, struct window_sum *w) {
    const struct json_value *operations = json_member(in, "operations");
    w->is_served = operations && !strcmp(operations->text, "hearth");
    if (json_member(in, "operations_why"))
        w->why_operations = read_text(t, in, "operations_why");
}

static void read_window(struct trouble *t, const struct json_value *in, struct run *run) {
    struct counts counts = {0};
    uint64_t serial = read_count(t, in, "window");
#define X(name) counts.name = read_count(t, in, #name);
    REPORT_COUNTS(X)
#undef X
    struct window_sum *w = find_window(run, serial);
    if (!w) {
        w = &run->windows[run->window_count++];
        *w = (struct window_sum){
            .serial = serial, .name = read_text(t, in, "name"), .mode = read_text(t, in, "mode")};
        read_operations(t, in, w);
    }
    w->ranks++;
    add_counts(&w->sum, &counts);
    add_counts(&find_rank(run, read_count(t, in, "rank"))->sum, &counts);
    add_counts(&run->all, &counts);
    read_whatif(t, in, w);
    read_reasons(in, w);
    read_suspension(t, in, w);
}

static void read_windows(struct trouble *t, struct run *run) {
    const struct json_value *list = read_part(t, run->root, "windows", JSON_ARRAY);
    run->windows = need(list->size * sizeof *run->windows);
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        read_window(t, v, run);
}

/* ---- recorded data ---- */

static void read_series(struct trouble *t, const struct json_value *process, struct timeline *time) {
    const struct json_value *in = read_part(t, process, "series", JSON_OBJECT);
    size_t counts[8];
    uint64_t **columns[] = {&time->gets,    &time->hits,       &time->bytes_served,  &time->bytes_fetched,
                            &time->entries, &time->used_bytes, &time->storage_bytes, &time->free_regions};
    static const char *const names[] = {"gets",    "hits",       "bytes_served",  "bytes_fetched",
                                        "entries", "used_bytes", "storage_bytes", "free_regions"};
    time->step = read_number(t, in, "step_seconds");
    for (int i = 0; i < 8; i++) {
        *columns[i] = read_list(t, in, names[i], &counts[i]);
        if (counts[i] != counts[0] || counts[i] > BINS_MOST || !(time->step > 0))
            read_complain(t, process, "series", "consistent");
    }
    time->count = t->is_there ? 0 : counts[0];
}

static void read_sizes(struct trouble *t, const struct json_value *process, struct run *run) {
    size_t count;
    uint64_t *sizes = read_list(t, process, "sizes", &count);
    if (count > SIZE_CLASSES)
        read_complain(t, process, "sizes", "list of at most 64");
    for (size_t i = 0; i < count && i < SIZE_CLASSES; i++)
        run->sizes[i] += sizes[i];
    free(sizes);
}

static void read_event(struct trouble *t, const struct json_value *in, uint64_t rank, struct event *e) {
    *e = (struct event){.rank = rank,
                        .seconds = read_number(t, in, "seconds"),
                        .window = read_count(t, in, "window"),
                        .what = read_text(t, in, "what")};
    if (json_member(in, "from")) {
        e->from = read_count(t, in, "from");
        e->to = read_count(t, in, "to");
    }
}

static void read_events(struct trouble *t, const struct json_value *process, uint64_t rank, struct run *run) {
    const struct json_value *list = read_part(t, process, "events", JSON_ARRAY);
    run->events_all += read_count(t, process, "event_count");
    run->events = list_grown(run->events, run->event_count, list->size, sizeof *run->events);
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        read_event(t, v, rank, &run->events[run->event_count++]);
}

/* The line of a Python program, "app.py:41", or NULL: others are found in the debug information (report_lines.c). */
static char *read_line(struct trouble *t, const struct json_value *in, const char *file) {
    const char *slash = strrchr(file, '/');
    uint64_t line = json_member(in, "line") ? read_count(t, in, "line") : 0;
    return line ? need_text("%s:%" PRIu64, slash ? slash + 1 : file, line) : NULL;
}

static void read_site(struct trouble *t, const struct json_value *in, struct site *s) {
    *s = (struct site){.file = read_text(t, in, "file"),
                       .function = read_text(t, in, "function"),
                       .offset = read_count(t, in, "offset"),
                       .window = read_count(t, in, "window"),
                       .gets = read_count(t, in, "gets"),
                       .hits = read_count(t, in, "hits"),
                       .bytes = read_count(t, in, "bytes")};
    s->line = read_line(t, in, s->file);
}

static void read_sites(struct trouble *t, const struct json_value *process, struct run *run) {
    const struct json_value *list = read_part(t, process, "callers", JSON_ARRAY);
    run->sites_lost += read_count(t, process, "callers_others");
    run->sites = list_grown(run->sites, run->site_count, list->size, sizeof *run->sites);
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        read_site(t, v, &run->sites[run->site_count++]);
}

static void read_curve(struct trouble *t, const struct json_value *in, struct run *run) {
    size_t sizes, hits;
    uint64_t *bytes = read_list(t, in, "cache_bytes", &sizes), *counts = read_list(t, in, "hits", &hits);
    struct window_sum *w = find_window(run, read_count(t, in, "window"));
    uint64_t gets = read_count(t, in, "gets"), distinct = read_count(t, in, "distinct_bytes"),
             part = read_count(t, in, "share");
    if (sizes != hits || sizes > BINS_MOST)
        read_complain(t, in, "hits", "list that fits");
    else if (w && !t->is_there)
        curve_add(&w->curve, gets, distinct, part, bytes, counts, sizes);
    free(bytes);
    free(counts);
}

static void read_curves(struct trouble *t, const struct json_value *process, struct run *run) {
    const struct json_value *list = read_part(t, process, "reuse", JSON_ARRAY);
    run->curves_lost += read_count(t, process, "reuse_lost");
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        read_curve(t, v, run);
}

static struct call_sum *find_call(struct run *run, const char *name) {
    for (size_t i = 0; i < run->call_count; i++)
        if (!strcmp(run->calls[i].name, name))
            return &run->calls[i];
    run->calls = list_grown(run->calls, run->call_count, 1, sizeof *run->calls);
    run->calls[run->call_count] = (struct call_sum){.name = name};
    return &run->calls[run->call_count++];
}

static void read_call(struct trouble *t, const struct json_value *in, uint64_t rank, struct run *run) {
    struct call_sum *c = find_call(run, read_text(t, in, "call"));
    double longest = read_number(t, in, "longest");
    uint64_t count = read_count(t, in, "count");
    c->count += count;
    c->seconds += read_number(t, in, "seconds");
    const char *fastest =
        json_member(in, "fastest") ? "fastest" : "usual"; /* older reports have the latter */
    c->fastest_seconds += json_member(in, fastest) ? read_number(t, in, fastest) * (double)count : 0;
    if (json_member(in, "late")) {
        c->late += read_count(t, in, "late");
        c->late_seconds += read_number(t, in, "late_seconds");
    }
    if (longest > c->longest) {
        c->longest = longest;
        c->longest_rank = rank;
    }
}

static void read_mpi(struct trouble *t, const struct json_value *process, struct rank_sum *rank,
                     struct run *run) {
    const struct json_value *mpi = json_member(process, "mpi");
    if (!mpi)
        return;
    run->is_timed = true;
    rank->mpi_seconds = read_number(t, mpi, "seconds");
    run->mpi_seconds += rank->mpi_seconds;
    const struct json_value *list = read_part(t, mpi, "calls", JSON_ARRAY);
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        read_call(t, v, rank->rank, run);
}

static void read_made(struct trouble *t, const struct json_value *process, struct run *run) {
    const struct json_value *list = json_member(process, "made");
    for (const struct json_value *v = NULL; list && (v = json_next(list, v));) {
        struct window_sum *w = find_window(run, read_count(t, v, "window"));
        const char *file = read_text(t, v, "file"), *function = read_text(t, v, "function");
        uint64_t offset = read_count(t, v, "offset");
        if (w && !w->made.file)
            w->made = (struct site){
                .file = file, .function = function, .line = read_line(t, v, file), .offset = offset};
    }
}

static void read_process(struct trouble *t, const struct json_value *in, struct run *run) {
    struct rank_sum *rank = find_rank(run, read_count(t, in, "rank"));
    uint64_t number = rank->rank;
    rank->host = read_text(t, in, "host");
    rank->seconds = read_number(t, in, "seconds");
    rank->cpu_seconds = json_member(in, "cpu_seconds") ? read_number(t, in, "cpu_seconds") : 0;
    read_mpi(t, in, rank, run);
    if (!flows_are_valid(in))
        read_complain(t, in, "targets", "complete");
    report_messages_read_process(t, in, number, run);
    report_served_read_process(t, in, run);
    if (!json_member(in, "series") || rank->time.gets)
        return;
    run->is_recorded = true;
    read_series(t, in, &rank->time);
    read_sizes(t, in, run);
    read_events(t, in, number, run);
    read_made(t, in, run);
    read_sites(t, in, run);
    read_curves(t, in, run);
}

static void read_job(struct trouble *t, struct run *run) {
    const struct json_value *job = read_part(t, run->root, "job", JSON_OBJECT);
    run->version = read_text(t, run->root, "hearth");
    run->ranks = read_count(t, run->root, "ranks");
    run->command = read_text(t, job, "command");
    run->mpi = read_text(t, job, "mpi");
    run->partial = json_member(run->root, "partial") ? read_text(t, run->root, "partial") : NULL;
    run->begun = read_count(t, job, "begun");
    run->cache_bytes = read_count(t, job, "cache_bytes");
    run->cache_bytes_most = read_count(t, job, "cache_bytes_most");
    run->settings = read_part(t, job, "settings", JSON_OBJECT);
    for (const struct json_value *v = NULL; (v = json_next(run->settings, v));)
        if (v->kind != JSON_STRING)
            read_complain(t, job, "settings", "texts in its part");
}

/* ---- the file ---- */

static int parse(struct run *run, size_t length) {
    struct json_error error;
    int err = json_read(run->text, length, &run->root, &error);
    if (err == -ENOMEM)
        return refuse("no memory left to read %s: close other programs, or raise the limit (ulimit -v)",
                      run->path);
    char first = run->text[strspn(run->text, " \t\r\n")];
    if (err && first && !strchr("{[", first))
        return refuse("%s is no report: name the file that hearth run --report FILE has written", run->path);
    if (err)
        return refuse(
            "%s is not JSON: line %zu, column %zu: %s; was the run stopped while it wrote? run it again",
            run->path, error.line, error.column, error.what);
    return 0;
}

static int check_format(const struct run *run) {
    const struct json_value *hearth = json_member(run->root, "hearth"),
                            *format = json_member(run->root, "format");
    if (!hearth || hearth->kind != JSON_STRING || !format || !format->is_count)
        return refuse("%s is JSON, but not a report of a run with Hearth's cache: make one with "
                      "HEARTH_REPORT=FILE.json",
                      run->path);
    if (format->count != FORMAT)
        return refuse(
            "%s has format %" PRIu64 ", of Hearth %s; this is Hearth " HEARTH_VERSION
            ", which reads format %d: run the program again with it, or use that version's hearth report",
            run->path, format->count, say_cut(hearth->text, 40), FORMAT);
    return 0;
}

static int read_all(struct run *run) {
    struct trouble t = {0};
    read_job(&t, run);
    read_windows(&t, run);
    const struct json_value *list = read_part(&t, run->root, "processes", JSON_ARRAY);
    for (const struct json_value *v = NULL; (v = json_next(list, v));)
        read_process(&t, v, run);
    report_messages_read(&t, run);
    report_armci_read(&t, run);
    report_vgasnet_read(&t, run);
    if (t.is_there)
        return refuse("%s is not a complete report of Hearth: %s; was it changed? run the program again",
                      run->path, t.what);
    report_sum(run);
    report_names(run);
    return 0;
}

int report_read(const char *path, struct run *run) {
    size_t length = 0;
    *run = (struct run){.path = path};
    int err = report_load(path, &run->text, &length);
    if (err)
        return err;
    err = parse(run, length);
    if (!err)
        err = check_format(run);
    if (!err)
        err = read_all(run);
    if (err)
        report_free(run);
    return err;
}

static void free_timeline(struct timeline *t) {
    uint64_t *columns[] = {t->gets,    t->hits,       t->bytes_served,  t->bytes_fetched,
                           t->entries, t->used_bytes, t->storage_bytes, t->free_regions};
    for (int i = 0; i < 8; i++)
        free(columns[i]);
}

static void free_site(struct site *s) {
    free(s->name);
    free(s->line);
}

void report_free(struct run *run) {
    for (size_t i = 0; i < run->rank_count; i++)
        free_timeline(&run->rank[i].time);
    for (size_t i = 0; i < run->window_count; i++) {
        free(run->windows[i].curve.steps);
        free_site(&run->windows[i].made);
    }
    for (size_t i = 0; i < run->site_count; i++)
        free_site(&run->sites[i]);
    free(run->rank);
    free(run->windows);
    free(run->sites);
    free(run->events);
    free(run->calls);
    free(run->heaters);
    free(run->root);
    free(run->text);
    *run = (struct run){0};
}
