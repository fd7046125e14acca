/* record.h: recording of this process's gets over time, for `hearth report`: see HEARTH_RECORD. All functions require
 * the lock. */
#ifndef HEARTH_MPI_RECORD_H
#define HEARTH_MPI_RECORD_H

#include "mpi/rma/window/window.h"

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

enum { RECORD_SIZE_CLASSES = 64 };

/* What most gets need: the class of their size is counted. until_note: gets until one needs more, a reading of the clock or a sample. */
struct record_light {
    uint32_t until_note;
    uint64_t sizes[RECORD_SIZE_CLASSES];
};
extern HIDDEN struct record_light rma_record_light;

/* The rest: of the get that needs more; of one whose key is in a sample. */
void rma_record_note(struct window *w, uint64_t bytes, enum seen seen);
void rma_record_analyse(struct window *w, uint64_t key, uint64_t bytes, bool by_whatif, bool by_reuse);

static inline unsigned rma_record_size_class(uint64_t bytes) {
    return 63 - (unsigned)__builtin_clzll(bytes | 1);
}

/* A get of a watched window: feeds the what-if analysis and the recording. Outside of the samples it takes a hash and some
 * counters. */
static inline void rma_record_get(struct window *w, int target, uint64_t address, uint64_t bytes,
                                  enum seen seen) {
    if (LIKELY(rma_record_is_on)) {
        rma_record_light.sizes[rma_record_size_class(bytes)]++;
        if (UNLIKELY(!rma_record_light.until_note--))
            rma_record_note(w, bytes, seen);
    }
    if (seen == SEEN_BYPASSED)
        return;
    uint64_t key = cache_sample_key((uint32_t)target, address);
    bool by_whatif = w->analysis.whatif && cache_sample_takes(cache_whatif_sample(w->analysis.whatif), key);
    bool by_reuse = w->analysis.reuse && cache_sample_takes(cache_reuse_sample(w->analysis.reuse), key);
    if (UNLIKELY(by_whatif | by_reuse))
        rma_record_analyse(w, key, bytes, by_whatif, by_reuse);
}

static inline void rma_record_seen(struct window *w, int target, uint64_t address, uint64_t bytes,
                                   enum seen seen) {
    if (UNLIKELY(w->watched))
        rma_record_get(w, target, address, bytes, seen);
}

/* A change of a window's cache. RECORD_STALE: mode auto has ended; `from` is the call site of the stale hit. */
enum record_event { RECORD_INDEX, RECORD_STORAGE, RECORD_SUSPENDED, RECORD_RESUMED, RECORD_STALE };
void rma_record_event(const struct window *w, enum record_event what, uint64_t from, uint64_t to);

/* At the end: this rank's recording as one JSON value, to be freed by the caller; NULL if memory ran out. */
char *rma_record_text(int rank, int depth, size_t *length);

/* Nanoseconds since this library was loaded. */
uint64_t rma_record_now(void);

#endif
