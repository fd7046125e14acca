/* record_text.c: writes the recording as JSON. Each rank writes its own text, so that no rank has to parse another's;
 * the report concatenates them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/observe/call_time.h"
#include "mpi/observe/targets.h"
#include "mpi/observe/receives.h"
#include "mpi/windows/caching/record/record_internal.h"
#include "mpi/windows/caching/record/record_targets.h"
#include "mpi/windows/serving/serve_count.h"
#include "observe/json.h"
#include "observe/output.h"
#include "observe/series.h"

/* Counters are written as differences between bins; the last counter column is SERIES_FETCHED. */
static void write_column(struct json *j, const char *name, const struct series *s, int column) {
    uint64_t values[SERIES_BINS];
    for (uint32_t i = 0; i < s->count; i++) {
        values[i] = s->values[i][column];
        if (column <= SERIES_FETCHED && i)
            values[i] -= s->values[i - 1][column];
    }
    json_counts(j, name, values, s->count);
}

static void write_series(struct json *j, const struct series *s) {
    static const char *const names[SERIES_COLUMNS] = {"gets",          "hits",        "bytes_served",
                                                      "bytes_fetched", "entries",     "used_bytes",
                                                      "storage_bytes", "free_regions"};
    json_open(j, "series", '{');
    json_number(j, "step_seconds", (double)s->width / 1e9);
    for (int i = 0; i < SERIES_COLUMNS; i++)
        write_column(j, names[i], s, i);
    json_close(j, '}');
}

static void write_sizes(struct json *j, const struct recording *r) {
    size_t count = RECORD_SIZE_CLASSES;
    uint64_t sizes[RECORD_SIZE_CLASSES];
    memcpy(sizes, r->sizes, sizeof sizes);
    sizes[r->noted_class] += rma_record_unnoted();
    while (count && !sizes[count - 1])
        count--;
    json_counts(j, "sizes", sizes, count);
}

/* "mode auto: a stale hit at main in app+0x12; transparent from here on" */
static void write_stale(struct json *j, const struct event *e) {
    char text[200], at[128] = "an unknown place";
    if (e->from) {
        struct caller_place place = callers_place(e->from);
        const char *slash = strrchr(place.file, '/');
        const char *name = slash ? slash + 1 : place.file, *in = *place.function ? " in " : "";
        if (place.line)
            snprintf(at, sizeof at, "%.40s%s%.40s:%" PRIu64, place.function, in, name, place.line);
        else
            snprintf(at, sizeof at, "%.40s%s%.40s+0x%" PRIx64, place.function, in, name, place.offset);
    }
    snprintf(text, sizeof text, "mode auto: a stale hit at %s; transparent from here on", at);
    json_string(j, "what", text);
}

static void write_event(struct json *j, const struct event *e) {
    static const char *const words[] = {"index", "storage", "suspended", "resumed"};
    json_open(j, NULL, '{');
    json_number(j, "seconds", (double)e->ns / 1e9);
    json_count(j, "window", e->window);
    if (e->what == RECORD_STALE)
        write_stale(j, e);
    else
        json_string(j, "what", words[e->what]);
    if (e->what <= RECORD_STORAGE) {
        json_count(j, "from", e->from);
        json_count(j, "to", e->to);
    }
    json_close(j, '}');
}

static void write_events(struct json *j, const struct recording *r) {
    json_count(j, "event_count", r->event_count);
    json_open(j, "events", '[');
    for (uint64_t i = 0; i < r->event_count && i < MOST_EVENTS; i++)
        write_event(j, &r->events[i]);
    json_close(j, ']');
}

static void write_place(struct json *j, uintptr_t address) {
    struct caller_place place = callers_place(address);
    json_string(j, "file", place.file);
    json_count(j, "offset", place.offset);
    json_string(j, "function", place.function);
    if (place.line)
        json_count(j, "line", place.line);
}

static void write_made(struct json *j, const struct recording *r) {
    json_open(j, "made", '[');
    for (unsigned i = 0; i < r->made_count; i++) {
        json_open(j, NULL, '{');
        json_count(j, "window", r->made[i].window);
        write_place(j, r->made[i].address);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_caller(struct json *j, struct caller row, uint64_t more) {
    rma_record_extend(&row, more);
    json_open(j, NULL, '{');
    write_place(j, row.address);
    json_count(j, "window", row.window);
    json_count(j, "gets", row.gets);
    json_count(j, "hits", row.hits);
    json_count(j, "bytes", row.bytes);
    json_close(j, '}');
}

static void write_callers(struct json *j, const struct recording *r) {
    uint64_t rest = rma_record_unsampled();
    json_count(j, "callers_others", r->callers.others + (r->last ? 0 : rest));
    json_open(j, "callers", '[');
    for (const struct caller *row = r->callers.rows; row < r->callers.rows + CALLERS; row++)
        if (row->gets)
            write_caller(j, *row, row == r->last ? rest : 0);
    json_close(j, ']');
}

static void write_curve(struct json *j, const struct curve *c) {
    uint64_t sizes[CACHE_REUSE_STEPS], hits[CACHE_REUSE_STEPS];
    size_t n = 0;
    for (unsigned i = 0; i < CACHE_REUSE_STEPS; i++)
        if (c->curve.hits[i]) {
            sizes[n] = cache_reuse_size(i);
            hits[n++] = c->curve.hits[i];
        }
    json_open(j, NULL, '{');
    json_count(j, "window", c->window);
    json_count(j, "gets", c->curve.gets);
    json_count(j, "share", c->curve.share);
    json_count(j, "distinct_bytes", c->curve.bytes);
    json_counts(j, "cache_bytes", sizes, n);
    json_counts(j, "hits", hits, n);
    json_close(j, '}');
}

static void write_open_curve(struct window *w, void *json) {
    struct curve c = {.window = w->serial};
    if (w->analysis.reuse)
        cache_reuse_read(w->analysis.reuse, &w->analysis.sample, &c.curve);
    if (c.curve.gets)
        write_curve(json, &c);
}

static void write_curves(struct json *j, const struct recording *r) {
    json_count(j, "reuse_lost", r->curves_lost);
    json_open(j, "reuse", '[');
    for (unsigned i = 0; i < r->curve_count; i++)
        write_curve(j, r->curves[i]);
    rma_window_each(write_open_curve, j);
    json_close(j, ']');
}

static void write_recording(struct json *j, struct recording *r) {
    uint64_t values[SERIES_COLUMNS];
    struct series series = r->series; /* a copy: the recording may go on */
    rma_record_judge();
    rma_record_values(values);
    series_end(&series, rma_record_now(), values);
    write_series(j, &series);
    write_sizes(j, r);
    write_events(j, r);
    write_made(j, r);
    write_callers(j, r);
    write_curves(j, r);
}

/* Of all threads of the process. */
static double cpu_seconds(void) {
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

char *rma_record_text(int rank, int depth, size_t *length) {
    char *text = NULL, host[256] = "";
    FILE *file = open_memstream(&text, length);
    if (!file)
        return NULL;
    struct json j;
    json_begin(&j, file);
    j.depth = depth;
    gethostname(host, sizeof host - 1);
    json_open(&j, NULL, '{');
    json_count(&j, "rank", (uint64_t)rank);
    json_string(&j, "host", host);
    json_count(&j, "pid", (uint64_t)getpid());
    json_number(&j, "seconds", (double)rma_record_now() / 1e9);
    json_number(&j, "cpu_seconds", cpu_seconds());
    call_time_json(&j);
    rma_record_collect();
    targets_json(&j);
    receives_json(&j);
    serve_count_json(&j);
    if (rma_recording)
        write_recording(&j, rma_recording);
    json_close(&j, '}');
    return output_text(file, &text);
}
