/* local_inside.h: shared by the files behind local.h.
 *
 *      local.c          open, close; a fault, once it is known where and what for
 *      fault_signal.c   faults as the kernel reports them by SIGSEGV
 *      userfault.c      the same by userfaultfd
 *      mapping.c        what is mapped where; the calls of the kernel
 *      mapper.c         the thread that takes mappings back
 *
 * What runs in a signal handler, or in a thread that others wait for, allocates nothing, touches no segment
 * and holds no lock but for short. Locks: a local's, then a bucket's, then the pool's. */
#ifndef HEARTH_PAGES_LOCAL_INSIDE_H
#define HEARTH_PAGES_LOCAL_INSIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pages/local.h"

enum { USERFAULT_THREADS = 4 };

/* What the addresses of a page of the segment are. */
enum mapping_kind {
    MAPPING_NONE,  /* as at the beginning, one area with its neighbours that are so too */
    MAPPING_FRAME, /* the frame, to read or to write */
    MAPPING_STALE  /* userfault: without access, but still an area of its own */
};

struct mapping {
    uint32_t frame;        /* + 1; only if it is MAPPING_FRAME */
    uint32_t older, newer; /* of its kind: page + 1 */
    uint8_t kind, level;
    uint8_t losses; /* in a row: it was wanted elsewhere before its time here was over */
    uint8_t unused;
};

struct mapping_list {
    uint32_t oldest, newest, count; /* page + 1 */
};

struct local {
    struct pool *pool;
    struct local_options options;
    size_t page_bytes;
    uint32_t pages;

    char *reserved; /* addresses, some more than the segment's */
    size_t reserved_bytes;
    char *base;

    struct pages_lock lock;       /* of all below */
    struct mapping *mappings;     /* [pages] */
    struct mapping_list lists[3]; /* by enum mapping_kind; of MAPPING_NONE there is none */
    uint32_t areas, areas_most;   /* of the kernel, in the segment; upper bound, and no more than */
    _Atomic uint32_t changed;     /* counts mappings that were taken back, once `closing` */
    _Atomic bool closing;         /* nothing has to stay any more */

    pthread_t mapper;
    bool mapper_runs;
    uint32_t staying; /* the mapper's: frames that are not due yet, by mapper_next: frame + 1 */
    _Atomic bool mapper_stop;

    _Atomic bool ends;       /* local_end. Partners: local_resolve, local_end */
    _Atomic uint32_t inside; /* threads in local_resolve */
    pthread_t ender;         /* who ends the process */

    int userfault, userfault_stop; /* descriptors, or -1 */
    pthread_t userfault_threads[USERFAULT_THREADS];
    int userfault_started;
};

/* ---- local.c ---- */

/* Makes the page accessible. LOCAL_FAILED, after a line: it cannot be mapped. LOCAL_ENDS: nor will it be any more. `mask`: of
 * signals, to wait with; or NULL. */
enum local_result { LOCAL_DONE, LOCAL_FAILED, LOCAL_ENDS };
enum local_result local_resolve(struct local *l, uint32_t page, bool write, const void *mask);

static inline bool local_has(const struct local *l, const void *address) {
    return (const char *)address >= l->base && (uint64_t)((const char *)address - l->base) < l->options.bytes;
}

static inline uint32_t local_page(const struct local *l, const void *address) {
    return (uint32_t)((size_t)((const char *)address - l->base) / l->page_bytes);
}

/* A thread with no signals and a small stack. 0 or a negative code. */
int local_start_thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* An error, from where log.h cannot be used: a signal handler, which may have interrupted anything. */
void local_say(const char *line);

/* ---- mapping.c ---- */

int mapping_open(struct local *l);
void mapping_close(struct local *l);

/* By who has it pinned. Negative code: no. */
int mapping_raise(struct local *l, uint32_t page, uint32_t frame, enum pages_level level);
/* By the mapper, which was asked; tells the pool. */
void mapping_lower(struct local *l, uint32_t frame, enum pages_level level);
/* Takes back all that nobody has asked for; how many are left, that the mapper was asked for. */
uint32_t mapping_drop_all(struct local *l);

/* It was wanted elsewhere, before its time here was over or not. */
void mapping_note_loss(struct local *l, uint32_t frame, bool early);
/* How long it stays then. */
uint64_t mapping_stay_ns(const struct local *l, uint32_t page);

/* For tests: so many areas at most. */
void mapping_limit(struct local *l, uint32_t areas);
/* Aborts if an invariant is broken; no fault is under way. */
void mapping_check(struct local *l);

/* ---- mapper.c ---- */

int mapper_start(struct local *l);
/* Nothing has to stay any more; `changed` counts what it takes back from now on. */
void mapper_hurry(struct local *l);
void mapper_stop(struct local *l);

/* ---- fault_signal.c ---- */

int fault_signal_open(struct local *l);
void fault_signal_close(const struct local *l);

/* ---- userfault.c ---- */

/* 0; -ENOSYS: cannot be had here. */
int userfault_open(struct local *l);
int userfault_start(struct local *l);
void userfault_close(struct local *l);
/* What is touched there waits for a thread of ours: of memory without pages; of pages that are not in the
 * page table. */
int userfault_watch_missing(const struct local *l, char *at, size_t bytes);
int userfault_watch_minor(const struct local *l, char *at, size_t bytes);

#endif
