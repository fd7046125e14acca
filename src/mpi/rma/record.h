/* record.h: what the gets of this process were like, over time, for `hearth report`: see HEARTH_RECORD. All under the lock. */
#ifndef HEARTH_MPI_RECORD_H
#define HEARTH_MPI_RECORD_H

#include "mpi/rma/window.h"

/* How a get is seen to end, where it is seen. */
enum seen {
    SEEN_PAST, /* not for the cache at all */
    SEEN_MISS,
    SEEN_HIT,
    SEEN_OPEN /* not known yet */
};

/* Whether anything is recorded. Set with the first window. */
extern HIDDEN bool record_is_on;
void record_start(struct memory_budget *budget);

/* A window is made, and not in the list yet; its cache is made. */
void record_window(struct window *w);
void record_cache(struct window *w, struct memory_budget *budget);
/* It is taken from the list, to be freed; MPI did not free it, and it is put back; it is freed. */
void record_window_leaves(const struct window *w);
void record_window_returns(const struct window *w);
void record_window_end(const struct window *w);

/* A get of a window that is watched: for those who want to know what other modes would have made of it, and for the record. */
void record_get(struct window *w, int target, uint64_t address, uint64_t bytes, enum seen seen);
static inline void record_seen(struct window *w, int target, uint64_t address, uint64_t bytes,
                               enum seen seen) {
    if (UNLIKELY(w->watched))
        record_get(w, target, address, bytes, seen);
}

/* Something about a window's cache changed. */
enum record_event { RECORD_INDEX, RECORD_STORAGE, RECORD_SUSPENDED, RECORD_RESUMED };
void record_event(const struct window *w, enum record_event what, uint64_t from, uint64_t to);

/* At the end: what was recorded here, as one value for JSON, to be freed; NULL without memory. */
char *record_text(int rank, int depth, size_t *length);

/* Nanoseconds since this library was loaded. */
uint64_t record_now(void);

#endif
