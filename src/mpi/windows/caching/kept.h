/* kept.h: the counters of the windows of this process, kept for the report when a window is freed. All functions require the lock. */
#ifndef HEARTH_MPI_RMA_KEPT_H
#define HEARTH_MPI_RMA_KEPT_H

#include "mpi/windows/caching/window/window.h"
#include "observe/bypass_reason.h"

enum { KEPT_NAME_BYTES = 64 };

struct rma_kept {
    uint64_t serial; /* 0: sum of several windows */
    int rank, mode;
    int served;             /* Hearth executes the window's operations; 0 for the sum of several windows */
    uint64_t served_reason; /* serve_auto.h; 0: none */
    char name[KEPT_NAME_BYTES];
    CLAMPI_Stats stats;
    struct cache_whatif_counts whatif; /* all 0 if the what-if analysis was off */
    uint64_t why[BYPASS_REASONS];      /* bypassed gets */
    uint64_t suspended, suspended_gets, first_suspended_ms, spent_ns, saved_ns;
};

/* The counters, for sums and for JSON. */
/* clang-format off */
#define KEPT_STATS(X)                                                                                             \
    X(gets) X(full_hits) X(partial_hits) X(pending_hits) X(direct) X(conflicting) X(capacity) X(failing)     \
    X(bypassed) X(invalidations) X(dropped) X(adjustments) X(bytes_served) X(bytes_fetched) X(elided)        \
    X(entries) X(index_slots) X(storage_bytes) X(used_bytes) X(free_regions) X(visited) X(nonempty)          \
    X(evictions) X(ahead_fetched) X(ahead_used)
/* clang-format on */

/* Adds the counters of others to a sum. */
void rma_kept_sum(CLAMPI_Stats *sum, const CLAMPI_Stats *more);

/* A window is being freed. name: MPI_MAX_OBJECT_NAME bytes. Does nothing if no report is wanted. */
void rma_kept_add(struct window *w, const char *name);

/* Adds the windows that are still open. */
void rma_kept_add_open(void);

/* All records of this process, with its rank in each. */
struct rma_kept *rma_kept_all(int rank, size_t *count);

/* The records at some time; a report of open windows gives the records back that it has added. */
struct rma_kept_mark {
    size_t count;
    struct rma_kept last;
};
void rma_kept_remember(struct rma_kept_mark *m);
void rma_kept_return(const struct rma_kept_mark *m);

#endif
