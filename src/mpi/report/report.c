/* report.c: the report at the end of the job: statistics of the cache per window and rank, as JSON.
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

/* The first suspension of a window's cache, and what the cache had taken and saved before the last one. */
static void json_suspension(struct json *j, const struct rma_kept *r) {
    if (!r->suspended || !r->serial)
        return;
    json_number(j, "suspended_first_seconds", (double)r->first_suspended_ms / 1e3);
    json_number(j, "cache_took_seconds", (double)r->spent_ns / 1e9);
    json_number(j, "cache_saved_seconds", (double)r->saved_ns / 1e9);
}

/* The measurement that decided who executes the window's operations. */
static void json_why_served(struct json *j, const struct rma_kept *r) {
    char why[128];
    if (!r->served_reason)
        return;
    serve_auto_text(r->served_reason, why, sizeof why);
    json_string(j, "operations_why", why);
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
        json_why_served(&j, &all[i]);
        json_count(&j, "rank", (uint64_t)all[i].rank);
        json_number(&j, "hit_ratio", report_share(hits(s), s->gets));
#define X(field) json_count(&j, #field, s->field);
        KEPT_STATS(X)
#undef X
        json_bypassed(&j, all[i].why);
        json_whatif(&j, &all[i].whatif);
        json_count(&j, "suspended", all[i].suspended);
        json_count(&j, "suspended_gets", all[i].suspended_gets);
        json_suspension(&j, &all[i]);
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
    if (output_open(&o, rank, NULL)) {
        report_write_json(o.file, all, count, rank, ranks, NULL, output_is_apart());
        output_close(&o);
    } else if (!output_is_apart())
        report_records_none();
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
static char *own_text(int rank, int ranks, const char *partial, size_t *length) {
    char *text = NULL;
    FILE *file = open_memstream(&text, length);
    struct rma_kept_mark before;
    size_t count;
    if (!file)
        return NULL;
    rma_kept_remember(&before);
    rma_kept_add_open();
    const struct rma_kept *records = rma_kept_all(rank, &count);
    report_write_json(file, records, count, rank, ranks, partial, true);
    rma_kept_return(&before);
    return output_text(file, &text);
}

char *report_own(int rank, int ranks, const char *partial, size_t *length) {
    if (rma_threaded && pthread_mutex_trylock(&rma_mutex))
        return NULL;
    report_heaters_collect(rank, 1);
    p2p_keep_counts();
    p2p_count_collect(rank, 1);
    char *text = own_text(rank, ranks, partial, length);
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
