/* top_json.c: the jobs as JSON, for scripts. Names are those of observe/live.def; existing names never change. */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "observe/json.h"
#include "observe/live.h"
#include "top/top.h"

static double top_json_share(uint64_t part, uint64_t whole) {
    return !whole ? NAN : part < whole ? (double)part / (double)whole : 1;
}

static void print_values(struct json *j, const struct top_row *r) {
    json_open(j, "values", '{');
    for (int i = 0; i < LIVE_WHATS; i++)
        json_count(j, live_name((enum live_what)i), r->values[i]);
    json_close(j, '}');
}

static void print_rates(struct json *j, const struct top_row *r) {
    json_open(j, "rates", '{');
    for (int i = 0; r->seconds > 0 && i < LIVE_WHATS; i++)
        if (live_kind_of((enum live_what)i) == LIVE_KIND_count)
            json_number(j, live_name((enum live_what)i), (double)r->deltas[i] / r->seconds);
    json_close(j, '}');
}

static void print_threads(struct json *j, const struct top_row *r) {
    static const char *const names[LIVE_ROLES] = {NULL, "helper", "service", "messages"};
    json_open(j, "threads", '{');
    for (int i = LIVE_NO_THREAD + 1; i < LIVE_ROLES; i++) {
        if (!r->threads[i])
            continue;
        json_open(j, names[i], '{');
        json_count(j, "count", r->threads[i]);
        json_number(j, "load", r->seconds > 0 ? r->busy[i] / r->seconds : NAN);
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void print_row(struct json *j, const struct top_row *r) {
    json_number(j, "hit_ratio", top_json_share(r->values[LIVE_hits], r->values[LIVE_gets]));
    json_number(j, "hit_ratio_now", top_json_share(r->deltas[LIVE_hits], r->deltas[LIVE_gets]));
    json_number(j, "fill", top_json_share(r->values[LIVE_used_bytes], r->values[LIVE_storage_bytes]));
    json_string(j, "shown", r->is_partial ? "partly" : "whole");
    print_values(j, r);
    print_rates(j, r);
    print_threads(j, r);
}

static void print_process(struct json *j, const struct top_row *r) {
    json_open(j, NULL, '{');
    json_count(j, "rank", (uint64_t)r->rank);
    json_count(j, "pid", (uint64_t)r->pid);
    print_row(j, r);
    json_close(j, '}');
}

static void print_job(struct json *j, const struct top_job *job) {
    json_open(j, NULL, '{');
    json_count(j, "job", (uint64_t)job->id);
    json_string(j, "program", job->program);
    json_count(j, "ranks", (uint64_t)job->size);
    json_count(j, "ranks_here", job->count);
    if (job->host)
        json_string(j, "host", job->host);
    print_row(j, &job->sum);
    json_open(j, "processes", '[');
    for (size_t i = 0; i < job->count; i++)
        print_process(j, &job->rows[i]);
    json_close(j, ']');
    json_close(j, '}');
}

void top_json_print(FILE *file, const struct top_jobs *jobs, double seconds) {
    struct json j;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    json_string(&j, "hearth", HEARTH_VERSION);
    json_count(&j, "format", 1);
    json_string(&j, "host", host);
    json_count(&j, "time", (uint64_t)time(NULL));
    json_number(&j, "seconds", seconds);
    json_open(&j, "jobs", '[');
    for (size_t i = 0; i < jobs->count; i++)
        print_job(&j, &jobs->of[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}
