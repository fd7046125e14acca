/* record.h: recording of this process's gets over time, for `hearth report`: see HEARTH_RECORD. All functions require
 * the lock. */
#ifndef HEARTH_MPI_RECORD_H
#define HEARTH_MPI_RECORD_H

#include "base/compiler.h"
#include "base/memory.h"
#include "mpi/windows/caching/window/window.h"

/* The outcome of a get, as far as it is known where the get is recorded. */
enum seen {
    SEEN_BYPASSED, /* bypasses the cache */
    SEEN_MISS,
    SEEN_HIT,
    SEEN_OPEN /* not known yet */
};

/* Whether recording is on. Set with the first window. */
extern HIDDEN bool rma_record_is_on;
void rma_record_start(struct memory_budget *budget);

/* A window was created and is not in the list yet. */
void rma_record_window(struct window *w);
/* The window's cache was created. */
void rma_record_cache(struct window *w, struct memory_budget *budget);
/* The window leaves the list because MPI is about to free it. */
void rma_record_window_leaves(const struct window *w);
/* MPI did not free the window, and it is put back. */
void rma_record_window_returns(const struct window *w);
/* MPI has freed the window. */
void rma_record_window_end(const struct window *w);

/* ---- a get ---- */

/* Gets until one is noted: the clock is read, and its size and perhaps its call site are a sample. */
extern HIDDEN uint32_t rma_record_left;

/* Counts a get of a watched window. Returns whether more is to be done: rma_record_followed. analysed: it does not bypass the cache, or
 * would not if the cache were not suspended. */
static inline bool rma_record_wants(struct window *w, int target, uint64_t address, bool analysed) {
    bool wanted = UNLIKELY(!rma_record_left--);
    if (analysed)
        wanted |= cache_sample_takes(&w->analysis.sample, (uint32_t)target, address);
    return wanted;
}

void rma_record_followed(struct window *w, int target, uint64_t address, uint64_t bytes, enum seen seen);

static inline void rma_record_seen(struct window *w, int target, uint64_t address, uint64_t bytes,
                                   enum seen seen) {
    if (UNLIKELY(w->watched) && UNLIKELY(rma_record_wants(w, target, address, seen != SEEN_BYPASSED)))
        rma_record_followed(w, target, address, bytes, seen);
}

/* A change of a window's cache. RECORD_STALE: mode auto has ended; `from` is the call site of the stale hit. */
enum record_event { RECORD_INDEX, RECORD_STORAGE, RECORD_SUSPENDED, RECORD_RESUMED, RECORD_STALE };
void rma_record_event(const struct window *w, enum record_event what, uint64_t from, uint64_t to);

/* At the end: this rank's recording as one JSON value, to be freed by the caller; NULL if memory ran out. */
char *rma_record_text(int rank, int depth, size_t *length);

/* Nanoseconds since this library was loaded. */
uint64_t rma_record_now(void);

#endif
