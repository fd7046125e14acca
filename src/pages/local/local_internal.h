/* local_internal.h: shared by the files behind local.h.
 *
 *      local.c          open, close; handling of a fault once its page and kind are known
 *      fault_signal.c   faults that the kernel reports by SIGSEGV
 *      userfault.c      faults that the kernel reports by userfaultfd
 *      mapping.c        the table of mappings; the system calls
 *      mapper.c         the thread that removes mappings
 *
 * Code that runs in a signal handler, or in a thread that other threads wait for, allocates nothing, touches no segment
 * and holds locks only briefly. Lock order: a local's, then a bucket's, then the pool's. */
#ifndef HEARTH_PAGES_LOCAL_INTERNAL_H
#define HEARTH_PAGES_LOCAL_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages/local/local.h"

enum { USERFAULT_THREADS = 4 };

/* State of the addresses of a page of the segment. */
enum mapping_kind {
    MAPPING_NONE,  /* initial state; one area with neighbours in the same state */
    MAPPING_FRAME, /* the frame is mapped, for reading or for writing */
    MAPPING_STALE  /* userfault: no access, but still an area of its own */
};

struct mapping {
    uint32_t frame;        /* frame + 1; MAPPING_FRAME only */
    uint32_t older, newer; /* in the list of its kind: page + 1 */
    uint8_t kind, level;
    uint8_t losses; /* consecutive losses before its minimum residency was over */
    uint8_t unused;
};

struct mapping_list {
    uint32_t oldest, newest, count; /* page + 1 */
};

struct local {
    struct pages_pool *pool;
    struct local_options options;
    size_t page_bytes;
    uint32_t pages;

    char *reserved; /* reserved addresses, more than the segment's */
    size_t reserved_bytes;
    char *base;

    struct pages_lock lock;       /* protects all below */
    struct mapping *mappings;     /* [pages] */
    struct mapping_list lists[3]; /* by enum mapping_kind; the one of MAPPING_NONE is unused */
    uint32_t areas, areas_most;   /* kernel areas in the segment: upper bound, and limit */
    _Atomic uint32_t changed;     /* once `closing`: counts removed mappings */
    _Atomic bool closing;         /* the minimum residency no longer applies */

    pthread_t mapper;
    bool mapper_runs;
    uint32_t staying; /* mapper only: frames within their minimum residency, by mapper_next: frame + 1 */
    _Atomic bool mapper_stop;

    _Atomic bool ends;       /* set by pages_local_end; pairs with pages_local_resolve */
    _Atomic uint32_t inside; /* threads in pages_local_resolve */
    pthread_t ender;         /* the thread that ends the process */

    int userfault, userfault_stop; /* descriptors, or -1 */
    pthread_t userfault_threads[USERFAULT_THREADS];
    int userfault_started;
};

/* ---- local.c ---- */

/* Makes the page accessible. LOCAL_FAILED, after an error line: it cannot be mapped. LOCAL_ENDS: the process is
 * exiting. `mask`: signal mask to use while waiting, or NULL. */
enum local_result { LOCAL_DONE, LOCAL_FAILED, LOCAL_ENDS };
enum local_result pages_local_resolve(struct local *l, uint32_t page, bool write, const void *mask);

static inline bool pages_local_has(const struct local *l, const void *address) {
    return (const char *)address >= l->base && (uint64_t)((const char *)address - l->base) < l->options.bytes;
}

static inline uint32_t pages_local_page(const struct local *l, const void *address) {
    return (uint32_t)((size_t)((const char *)address - l->base) / l->page_bytes);
}

/* Starts a thread with all signals blocked and a small stack. Returns 0 or a negative code. */
int pages_local_start_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* Writes an error line from contexts where log.h cannot be used: a signal handler may have interrupted anything. */
void pages_local_say(const char *line);

/* ---- mapping.c ---- */

int pages_mapping_open(struct local *l);
void pages_mapping_close(struct local *l);

/* Called by the holder of a pin. Returns 0 or a negative code. */
int pages_mapping_raise(struct local *l, uint32_t page, uint32_t frame, enum pages_level level);
/* Called by the mapper on request; informs the pool. */
void pages_mapping_lower(struct local *l, uint32_t frame, enum pages_level level);
/* Removes all mappings except those that the mapper has been asked to lower. Returns how many are left. */
uint32_t pages_mapping_drop_all(struct local *l);

/* Records that another node needed the page; `early`: before its minimum residency was over. */
void pages_mapping_note_loss(struct local *l, uint32_t frame, bool early);
/* Minimum residency of the page. */
uint64_t pages_mapping_stay_ns(const struct local *l, uint32_t page);

/* Sets the maximum number of areas. */
void pages_mapping_limit(struct local *l, uint32_t areas);
/* Aborts if an invariant is broken; no fault may be under way. */
void pages_mapping_check(struct local *l);

/* ---- mapper.c ---- */

int pages_mapper_start(struct local *l);
/* Cancels all minimum residencies; `changed` counts the mappings that are removed from now on. */
void pages_mapper_hurry(struct local *l);
void pages_mapper_stop(struct local *l);

/* ---- fault_signal.c ---- */

int pages_fault_signal_open(struct local *l);
void pages_fault_signal_close(const struct local *l);

/* ---- userfault.c ---- */

/* Returns 0; -ENOSYS: not available here. */
int pages_userfault_open(struct local *l);
int pages_userfault_start(struct local *l);
void pages_userfault_close(struct local *l);
/* Register a range, so that an access waits for a thread of ours: an access to missing anonymous memory, or to pages
 * that are in the file but not in the page table. */
int pages_userfault_watch_missing(const struct local *l, char *at, size_t bytes);
int pages_userfault_watch_minor(const struct local *l, char *at, size_t bytes);

#endif
