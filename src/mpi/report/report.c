/* report.c: the report at the end of the job: statistics of the cache per window and rank, as text or JSON.
 *
 * Counters of freed windows are kept as records. At MPI_Finalize rank 0 gathers all records and writes one report. If
 * the file name contains %r or %p, each rank writes its own instead. */
#include "mpi/report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/settings.h"
#include "mpi/observe/gather_plan.h"
#include "mpi/host/host.h"
#include "mpi/observe/records.h"
#include "mpi/messages/start.h"
#include "mpi/messages/transport/p2p_count.h"
#include "mpi/report/report_own.h"
#include "mpi/report/report_sections.h"
#include "mpi/windows/caching/kept.h"
#include "mpi/windows/serving/serve_auto.h"
#include "observe/bypass_reason.h"
#include "observe/json.h"
#include "observe/output.h"

enum { AT_A_TIME = 1 << 19 };

/* ---- collecting ---- */

static int by_serial_then_rank(const void *a, const void *b) {
    const struct rma_kept *x = a, *y = b;
    if (x->serial != y->serial)
        return x->serial - 1 < y->serial - 1 ? -1 : 1; /* serial 0, the remaining windows, sorts last */
    return x->rank - y->rank;
}

/* Collective. */
static void gather_steps(const struct records_steps *s, char *into) {
    for (int begin = 0, end = 0; begin < s->ranks; begin = end) {
        if (s->lengths)
            end = gather_plan(s->lengths, s->places, begin, s->ranks, AT_A_TIME);
        host_Bcast(&end, 1, MPI_INT, 0, MPI_COMM_WORLD);
        records_gather_range(s, begin, end, into);
        for (int i = begin; s->lengths && i < end; i++)
            into += s->lengths[i];
    }
}

/* Gathers the records of all ranks at rank 0, sorted; *count is 0 elsewhere. NULL only if memory ran out. */
static struct rma_kept *report_gather(int rank, int size, size_t *count) {
    size_t own;
    const struct rma_kept *records = rma_kept_all(rank, &own);
    int *lengths = rank ? NULL : malloc(3 * (size_t)size * sizeof *lengths), ok = rank || lengths;
    struct records_steps s = {.own = records,
                              .length = (int)(own * sizeof *records),
                              .rank = rank,
                              .ranks = size,
                              .lengths = lengths,
                              .places = lengths ? lengths + size : NULL,
                              .counts = lengths ? lengths + 2 * (size_t)size : NULL};
    size_t total = 0;
    host_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!ok)
        return NULL;
    host_Gather(&s.length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; lengths && i < size; i++)
        total += (size_t)lengths[i];
    struct rma_kept *all = malloc(total + 1);
    ok = all != NULL;
    host_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ok)
        gather_steps(&s, (char *)all);
    *count = ok && !rank ? total / sizeof *all : 0;
    if (*count)
        qsort(all, *count, sizeof *all, by_serial_then_rank);
    free(lengths);
    return all;
}

/* ---- writing ---- */

static const char *mode_word(int mode) {
    static const char *const words[] = {"transparent", "always", "user", "off", "acquire"};
    return words[mode];
}

static uint64_t hits(const CLAMPI_Stats *s) {
    return s->full_hits + s->partial_hits + s->pending_hits;
}

static double report_share(uint64_t part, uint64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static void report_text_row(FILE *file, const char *who, const CLAMPI_Stats *s) {
    fprintf(file,
            "  %5s %10" PRIu64 " %5.1f%% %10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %9" PRIu64 " %9" PRIu64
            " %9" PRIu64,
            who, s->gets, 100 * report_share(hits(s), s->gets), s->full_hits, s->partial_hits,
            s->pending_hits, s->direct, s->conflicting, s->capacity);
    fprintf(file, " %9" PRIu64 " %9" PRIu64 " %9.1f %9.1f %9" PRIu64 "\n", s->failing, s->bypassed,
            (double)s->bytes_served / 1e6, (double)s->bytes_fetched / 1e6, s->elided);
}

static void text_ahead(FILE *file, const CLAMPI_Stats *s) {
    if (s->ahead_fetched)
        fprintf(file, "  read ahead: %" PRIu64 " blocks, of which %" PRIu64 " were used\n", s->ahead_fetched,
                s->ahead_used);
}

/* Why gets bypassed the window's caches, most first. */
static void text_bypassed(FILE *file, const struct rma_kept *first, const struct rma_kept *end) {
    uint64_t why[BYPASS_REASONS] = {0};
    for (const struct rma_kept *r = first; r < end; r++)
        for (int i = 0; i < BYPASS_REASONS; i++)
            why[i] += r->why[i];
    for (;;) {
        int most = 0;
        for (int i = 1; i < BYPASS_REASONS; i++)
            most = why[i] > why[most] ? i : most;
        if (!why[most])
            return;
        fprintf(file, "  %" PRIu64 " gets bypassed the cache: %s\n", why[most], bypass_reason_text(most));
        why[most] = 0;
    }
}

/* When and why a window's cache was suspended. */
static void text_suspensions(FILE *file, const struct rma_kept *first, const struct rma_kept *end) {
    for (const struct rma_kept *r = first; r < end; r++)
        if (r->suspended && !r->serial)
            fprintf(file, "  rank %d: suspended %" PRIu64 " times for %" PRIu64 " gets in all\n", r->rank,
                    r->suspended, r->suspended_gets);
        else if (r->suspended)
            fprintf(file,
                    "  rank %d: suspended %" PRIu64 " times for %" PRIu64
                    " gets in all, first %.1f s after the window was "
                    "created: the cache took %.1f us and saved %.1f us (the last time)\n",
                    r->rank, r->suspended, r->suspended_gets, (double)r->first_suspended_ms / 1e3,
                    (double)r->spent_ns / 1e3, (double)r->saved_ns / 1e3);
}

/* The library that executes the window's operations, if that is not the default, and why. */
static void text_served(FILE *file, const struct rma_kept *r) {
    char why[128];
    if (r->served || r->served_reason)
        fprintf(file, ", operations by %s", r->served ? "Hearth" : "the MPI library");
    if (!r->served_reason)
        return;
    serve_auto_text(r->served_reason, why, sizeof why);
    fprintf(file, ": %s", why);
}

static void text_window(FILE *file, const struct rma_kept *first, const struct rma_kept *end) {
    CLAMPI_Stats sum = {0};
    fprintf(file, "window %" PRIu64 " '%s', mode %s", first->serial, first->name, mode_word(first->mode));
    text_served(file, first);
    fprintf(file, "\n");
    fprintf(file, "  %5s %10s %6s %10s %8s %8s %9s %9s %9s %9s %9s %9s %9s %9s\n", "rank", "gets", "hits",
            "full", "partial", "pending", "direct", "conflict", "capacity", "failing", "bypassed",
            "served MB", "fetched MB", "elided");
    for (const struct rma_kept *r = first; r < end; r++) {
        char who[16];
        snprintf(who, sizeof who, "%d", r->rank);
        report_text_row(file, who, &r->stats);
        rma_kept_sum(&sum, &r->stats);
    }
    report_text_row(file, "all", &sum);
    text_ahead(file, &sum);
    text_bypassed(file, first, end);
    text_suspensions(file, first, end);
}

/* What other modes would have served, if the difference is significant. */
static void text_advice(FILE *file, const struct rma_kept *all, size_t count) {
    struct cache_whatif_counts sum = {0};
    uint64_t hit = 0;
    for (size_t i = 0; i < count; i++) {
        const struct cache_whatif_counts *f = &all[i].whatif;
        if (all[i].mode != MODE_TRANSPARENT || !f->gets)
            continue;
        sum.gets += f->gets, sum.kept += f->kept, sum.kept_within += f->kept_within, sum.bytes += f->bytes;
        hit += hits(&all[i].stats);
    }
    double now = report_share(hit, sum.gets), within = report_share(sum.kept_within, sum.gets),
           kept = report_share(sum.kept, sum.gets);
    if (kept < now + 0.05)
        return;
    fprintf(file,
            "of %" PRIu64 " remote gets in transparent mode, acquire mode would have served about %.0f %%, "
            "always mode %.0f %%, "
            "with %.1f MB of cache in all\n",
            sum.gets, 100 * within, 100 * kept, (double)sum.bytes / 1e6);
    if (within >= now + 0.05)
        fprintf(file, "  try HEARTH_MODE=acquire, and HEARTH_CHECK=1 once\n");
    else
        fprintf(file, "  if no rank writes what others have read: try clampi_mode=always for these windows, "
                      "and HEARTH_CHECK=1 once\n");
}

static void report_write_text(FILE *file, const struct rma_kept *all, size_t count, int ranks) {
    CLAMPI_Stats sum = {0};
    for (size_t i = 0; i < count; i++)
        rma_kept_sum(&sum, &all[i].stats);
    fprintf(file,
            "hearth: of %" PRIu64 " gets on %d ranks %" PRIu64
            " (%.1f %%) were served by the cache: %.1f MB local, "
            "%.1f MB through MPI; %" PRIu64 " flushes had nothing to wait for\n",
            sum.gets, ranks, hits(&sum), 100 * report_share(hits(&sum), sum.gets),
            (double)sum.bytes_served / 1e6, (double)sum.bytes_fetched / 1e6, sum.elided);
    uint64_t silent = 0;
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t gets = 0;
        for (end = i; end < count && all[end].serial == all[i].serial; end++)
            gets += all[end].stats.gets;
        if (gets)
            text_window(file, &all[i], &all[end]);
        silent += !gets;
    }
    if (silent)
        fprintf(file, "%" PRIu64 " more windows had no gets\n", silent);
    text_advice(file, all, count);
    p2p_count_text(file);
    report_heaters_text(file);
}

static void json_bypassed(struct json *j, const uint64_t *why) {
    json_open(j, "bypassed_why", '{');
    for (int i = 0; i < BYPASS_REASONS; i++)
        if (why[i])
            json_count(j, bypass_reason_name(i), why[i]);
    json_close(j, '}');
}

static void json_whatif(struct json *j, const struct cache_whatif_counts *f) {
    if (!f->gets)
        return;
    json_open(j, "foresight", '{');
    json_count(j, "gets", f->gets);
    json_number(j, "acquire", report_share(f->kept_within, f->gets));
    json_number(j, "always", report_share(f->kept, f->gets));
    json_count(j, "bytes", f->bytes);
    json_close(j, '}');
}

/* The format number changes when a reader of the old format would misread the new one: see tools/report/read/report_read.c. */
static void report_write_json(FILE *file, const struct rma_kept *all, size_t count, int rank, int ranks,
                              const char *partial, bool is_own) {
    struct json j;
    json_begin(&j, file);
    json_open(&j, NULL, '{');
    if (partial)
        json_string(&j, "partial", partial);
    report_job_json(&j, ranks);
    json_open(&j, "windows", '[');
    for (size_t i = 0; i < count; i++) {
        const CLAMPI_Stats *s = &all[i].stats;
        json_open(&j, NULL, '{');
        json_count(&j, "window", all[i].serial);
        json_string(&j, "name", all[i].name);
        json_string(&j, "mode", mode_word(all[i].mode));
        json_string(&j, "operations", all[i].served ? "hearth" : "mpi");
        json_count(&j, "rank", (uint64_t)all[i].rank);
        json_number(&j, "hit_ratio", report_share(hits(s), s->gets));
#define X(field) json_count(&j, #field, s->field);
        KEPT_STATS(X)
#undef X
        json_bypassed(&j, all[i].why);
        json_whatif(&j, &all[i].whatif);
        json_count(&j, "suspended", all[i].suspended);
        json_count(&j, "suspended_gets", all[i].suspended_gets);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (is_own)
        report_record_json(&j, rank);
    else
        report_records_json(&j, ranks);
    p2p_count_json(&j);
    report_heaters_json(&j);
    report_parts_json(&j);
    json_close(&j, '}');
}

static void write_report(const struct rma_kept *all, size_t count, int rank, int ranks) {
    struct output o;
    bool is_open = output_open(&o, rank, NULL), is_json = is_open && o.is_json;
    if (is_json)
        report_write_json(o.file, all, count, rank, ranks, NULL, output_is_apart());
    else if (is_open)
        report_write_text(o.file, all, count, ranks);
    if (!is_json && !output_is_apart())
        report_records_none();
    if (is_open)
        output_close(&o);
}

static void report_write(void) {
    int rank, size;
    size_t count;
    host_Comm_rank(MPI_COMM_WORLD, &rank);
    host_Comm_size(MPI_COMM_WORLD, &size);
    bool apart = output_is_apart();
    report_heaters_collect(rank, apart ? 1 : size);
    p2p_count_collect(rank, apart ? 1 : size);
    if (apart) {
        const struct rma_kept *own = rma_kept_all(rank, &count);
        write_report(own, count, rank, 1);
        return;
    }
    struct rma_kept *all = report_gather(rank, size, &count);
    if (!all)
        log_error("HEARTH_REPORT: no memory to gather the report; none is written");
    if (rank)
        report_records_send(rank);
    else if (all)
        write_report(all, count, rank, size);
    else
        report_records_none();
    free(all);
}

/* ---- while the program runs ---- */

/* Windows that are still open get a record for this report only. */
static char *own_text(int rank, int ranks, bool is_json, const char *partial, size_t *length) {
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    struct rma_kept_mark before;
    size_t count;
    if (!file)
        return NULL;
    rma_kept_remember(&before);
    rma_kept_add_open();
    const struct rma_kept *records = rma_kept_all(rank, &count);
    if (is_json)
        report_write_json(file, records, count, rank, ranks, partial, true);
    else
        report_write_text(file, records, count, 1);
    rma_kept_return(&before);
    return output_text(file, &text);
}

char *report_own(int rank, int ranks, bool is_json, const char *partial, size_t *length) {
    if (rma_threaded && pthread_mutex_trylock(&rma_mutex))
        return NULL;
    report_heaters_collect(rank, 1);
    p2p_keep_counts();
    p2p_count_collect(rank, 1);
    char *text = own_text(rank, ranks, is_json, partial, length);
    rma_unlock();
    return text;
}

void report_at_end(void) {
    if (!output_is_wanted())
        return;
    rma_lock();
    rma_kept_add_open();
    rma_unlock();
    report_write();
    report_parts_close();
}
