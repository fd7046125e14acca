/* kept.c: see kept.h. The number of records is bounded: the last one is the sum of all further windows. */
#include "mpi/windows/caching/kept.h"

#include <stdlib.h>

#include "mpi/windows/caching/admission.h"
#include "observe/output.h"

enum { MOST_RECORDS = 1024 };

static struct rma_kept *records;
static size_t record_count, record_room;

void rma_kept_sum(CLAMPI_Stats *sum, const CLAMPI_Stats *more) {
#define X(field) sum->field += more->field;
    KEPT_STATS(X)
#undef X
}

static struct rma_kept *kept_new(void) {
    if (record_count == record_room && record_count < MOST_RECORDS) {
        size_t room = record_room ? 2 * record_room : 16;
        struct rma_kept *more = realloc(records, room * sizeof *more);
        if (more) {
            records = more;
            record_room = room;
        }
    }
    return record_count < record_room ? &records[record_count++] : NULL;
}

void rma_kept_add(struct window *w, const char *name) {
    CLAMPI_Stats stats;
    if (!output_is_wanted())
        return;
    rma_window_stats(w, &stats);
    rma_admission_settle(w);
    struct rma_kept *r = kept_new();
    if (r) {
        *r =
            (struct rma_kept){.serial = w->serial,
                              .mode = (int)w->mode,
                              .served = w->served,
                              .served_reason = w->served_reason,
                              .stats = stats,
                              .suspended = w->admission.times,
                              .suspended_gets = rma_admission_gets_bypassed(w),
                              .first_suspended_ms = (w->admission.first_ns - w->admission.begun_ns) / 1000000,
                              .spent_ns = w->admission.spent_ns,
                              .saved_ns = w->admission.saved_ns};
        memcpy(r->why, w->why, sizeof r->why);
        if (w->analysis.whatif)
            cache_whatif_read(w->analysis.whatif, &w->analysis.sample, &r->whatif);
        strncpy(r->name, name, KEPT_NAME_BYTES - 1);
    } else if (record_count) { /* the last record accumulates the remaining windows */
        r = &records[record_count - 1];
        r->serial = 0;
        r->served = 0;
        r->served_reason = 0;
        strcpy(r->name, "(others)");
        rma_kept_sum(&r->stats, &stats);
        r->whatif = (struct cache_whatif_counts){0};
        for (int i = 0; i < BYPASS_REASONS; i++)
            r->why[i] += w->why[i];
        r->suspended += w->admission.times;
        r->suspended_gets += rma_admission_gets_bypassed(w);
    }
}

static void kept_add_open(struct window *w, void *arg) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    if (host_Win_get_name(w->handle, name, &length) != MPI_SUCCESS)
        name[0] = 0;
    rma_kept_add(w, name);
}

void rma_kept_add_open(void) {
    rma_window_each(kept_add_open, NULL);
}

struct rma_kept *rma_kept_all(int rank, size_t *count) {
    for (size_t i = 0; i < record_count; i++)
        records[i].rank = rank;
    *count = record_count;
    return records;
}

void rma_kept_remember(struct rma_kept_mark *m) {
    m->count = record_count;
    m->last = record_count ? records[record_count - 1] : (struct rma_kept){0};
}

void rma_kept_return(const struct rma_kept_mark *m) {
    record_count = m->count;
    if (record_count)
        records[record_count - 1] = m->last;
}
