/* report_partial.c: see report_partial.h. */
#include "mpi/report/report_partial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/settings.h"
#include "mpi/host/host.h"
#include "mpi/messages/start.h"
#include "mpi/report/report_own.h"
#include "mpi/windows/caching/record/record.h"
#include "observe/ask.h"
#include "observe/output.h"
#include "observe/parts.h"

/* The first partial report comes after FIRST seconds, the next ones when the run is longer by SHARE; all ranks together write at most
 * MOST parts per second; a rank spends at most 1 / COST of its time on them. */
static const double FIRST = 1, SHARE = 0.125, MOST = 200, COST = 1000;

static _Atomic uint64_t never = UINT64_MAX;
_Atomic uint64_t *report_due = &never;

static struct partial {
    enum { PARTIAL_OFF, PARTIAL_OWN /* a file per rank */, PARTIAL_JOINT } kind;
    int rank, ranks;
    pid_t pid;            /* children made by fork write nothing */
    atomic_flag is_busy;  /* a thread writes */
    _Atomic bool is_over; /* the last report is written, or MPI_Finalize is called */
    struct parts parts;
} partial = {.is_busy = ATOMIC_FLAG_INIT};

/* ---- start ---- */

static bool every_is_given(void) {
    size_t count;
    return settings_source((size_t)(settings_find("HEARTH_REPORT_EVERY") - settings_table(&count))) ==
           SOURCE_ENVIRONMENT;
}

/* Seconds until the next report, if the last one took `cost` seconds. */
static double interval(double cost) {
    double every = settings_get()->report_every, elapsed = (double)rma_record_now() / 1e9;
    double next = SHARE * elapsed > FIRST ? SHARE * elapsed : FIRST;
    if (every <= 0)
        return 1e9; /* only when asked */
    next = next < every ? next : every;
    if (every_is_given())
        return next;
    double least = COST * cost > partial.ranks / MOST ? COST * cost : partial.ranks / MOST;
    return next > least ? next : least;
}

static void plan_next(double cost) {
    uint64_t ticks = (uint64_t)(interval(cost) * 1e9 / clock_ns_per_tick());
    atomic_store_explicit(report_due, clock_ticks() + ticks, memory_order_relaxed);
}

/* The file is one for all ranks: they agree on a number that no earlier job with this file had. */
static bool open_joint(const char *path) {
    uint64_t job = (uint64_t)clock_ns() ^ (uint64_t)getpid() << 40;
    host_Bcast(&job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return parts_open(&partial.parts, path, job, partial.rank);
}

void report_partial_open(void) {
    char path[4096];
    host_Comm_rank(MPI_COMM_WORLD, &partial.rank);
    host_Comm_size(MPI_COMM_WORLD, &partial.ranks);
    partial.pid = getpid();
    if (!output_path(partial.rank, path, sizeof path)) {
        log_debug(LOG_REPORT, "no report is wanted");
        return;
    }
    partial.kind = output_is_apart() ? PARTIAL_OWN : open_joint(path) ? PARTIAL_JOINT : PARTIAL_OFF;
    if (partial.kind == PARTIAL_OFF)
        return;
    log_debug(LOG_REPORT, "the report goes to %s, %s while the job runs", path,
              partial.kind == PARTIAL_JOINT ? "in parts" : "whole");
    struct ask_page *ask = ask_open();
    report_due = &ask->due;
    plan_next(0);
    if (partial.kind == PARTIAL_JOINT)
        report_signal_open();
}

/* ---- writing ---- */

static int write_own(const char *why) {
    struct output o;
    size_t length = 0;
    char *text = report_own(partial.rank, 1, why, &length);
    if (!text)
        return -EAGAIN;
    if (!output_open(&o, partial.rank, NULL)) {
        free(text);
        return -EIO;
    }
    fwrite(text, 1, length, o.file);
    output_close(&o);
    free(text);
    return 0;
}

static int write_part(const char *why) {
    size_t length = 0;
    char *text = report_own(partial.rank, partial.ranks, why, &length);
    int err = text ? parts_write(&partial.parts, text, length) : -EAGAIN;
    free(text);
    return err;
}

void report_partial_write(void) {
    uint64_t begun = clock_ns();
    char why[128];
    if (atomic_load(&partial.is_over) || atomic_flag_test_and_set(&partial.is_busy))
        return;
    snprintf(why, sizeof why, "it was written after %.1f s, before the program called MPI_Finalize",
             (double)rma_record_now() / 1e9);
    int err = partial.kind == PARTIAL_OWN ? write_own(why) : write_part(why);
    if (err && err != -EAGAIN) {
        log_info(LOG_REPORT, "HEARTH_REPORT: no partial reports are written: %s", strerror(-err));
        atomic_store(report_due, UINT64_MAX);
    } else {
        log_trace(LOG_REPORT, "a part of the report is written, in %.1f ms",
                  (double)(clock_ns() - begun) / 1e6);
        plan_next((double)(clock_ns() - begun) / 1e9);
    }
    atomic_flag_clear(&partial.is_busy);
}

/* ---- an early end ---- */

static bool is_first_end(void) {
    return partial.pid == getpid() && !atomic_exchange(&partial.is_over, true);
}

/* On a thread of the program. If another thread is writing, its part will do. */
void report_partial_end(const char *how) {
    char why[128];
    if (partial.kind == PARTIAL_OFF || !is_first_end())
        return;
    snprintf(why, sizeof why, "rank %d %s after %.1f s", partial.rank, how, (double)rma_record_now() / 1e9);
    bool is_busy = atomic_flag_test_and_set(&partial.is_busy);
    if (partial.kind != PARTIAL_JOINT && !is_busy)
        write_own(why);
    if (partial.kind == PARTIAL_JOINT && !is_busy)
        write_part(why);
    if (partial.kind == PARTIAL_JOINT)
        parts_end(&partial.parts, why);
}

void report_partial_signal(const char *what) {
    if (is_first_end())
        parts_end(&partial.parts, what);
}

/* exit without MPI_Finalize: by the program, or by MPI after an error. */
__attribute__((destructor)) static void end_of_process(void) {
    report_partial_end("ended without MPI_Finalize");
}

void report_partial_stop(void) {
    atomic_store(&partial.is_over, true);
    atomic_store(report_due, UINT64_MAX);
    if (partial.kind == PARTIAL_JOINT)
        report_signal_close();
}

void report_partial_remove(void) {
    if (partial.kind == PARTIAL_JOINT)
        parts_remove(&partial.parts);
}
