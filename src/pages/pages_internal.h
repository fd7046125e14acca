/* pages_internal.h: state of the segments in pages in one process. */
#ifndef HEARTH_PAGES_INTERNAL_H
#define HEARTH_PAGES_INTERNAL_H

#include <pthread.h>

#include "pages/pool/ahead.h"
#include "pages/pool/fetch_policy.h"
#include "pages/hints.h"
#include "pages/local/local.h"
#include "pages/pages.h"
#include "pages/service/service.h"

/* One per rank. The table exists once per node, in shared memory. */
struct pages_segment {
    uint64_t base, bytes;
    uint32_t first; /* number of its first page at its home */
    uint16_t home;
};

/* Hits are on a cache line apart from the other counters: all threads update them. */
struct pages_tally {
    _Alignas(64) _Atomic uint64_t hits;
    _Alignas(64) _Atomic uint64_t misses, smalls, prefetched;
    _Atomic uint64_t faults, write_faults;
};

struct pages {
    /* Fields that hits use. */
    struct pages_pool pool;
    const struct pages_segment *segments; /* [size] */
    unsigned shift;                       /* log2 of the page size */
    size_t small;                         /* largest remote operation, bytes; 0: none */
    uint64_t base, bytes;                 /* of this rank's own segment */

    unsigned ahead_most;
    struct ahead ahead;
    struct fetch_policy policy;
    struct hints hints;
    pthread_mutex_t small_lock;              /* protects the next two fields */
    struct pages_op *small_ops[POOL_SMALLS]; /* operations begun, by slot */
    unsigned small_begun;

    struct pages_events events;
    struct net_world *world;
    struct local *local;
    bool ends; /* the process is exiting: keep everything that other threads may use */
    struct mailbox *box;
    void *memory;
    size_t memory_bytes;
    int file;
    uint64_t found; /* the checkpoint that it was restored from; 0: none */
    uint64_t epoch; /* the last checkpoint */
    uint64_t tried; /* the largest checkpoint number that any rank has started */
    bool named, closes;
    bool is_unsure; /* a checkpoint that failed may be in the files */
    struct net_channel *channel;

    /* Of the leader only. */
    struct service service;
    struct mailbox *service_box;
    struct service_homes *homes;
    bool serves;

    struct pages_tally tally;
};

/* Values of one rank on which all must agree, and the size of its segment. */
struct pages_agreed {
    uint64_t page_bytes, small, coop, named, epoch, bytes;
    uint64_t folder_error; /* why the folder of the segments cannot be used; 0: it can */
};

/* ---- open_pool.c ---- */

/* Collective. `all`: of all ranks. */
int pages_open_pool(struct pages *p, const struct net_boot *boot, const struct pages_agreed *all);

/* ---- show.c ---- */

/* Publishes the counters for hearth top. */
void pages_show(const struct pages *p);
void pages_hide(const struct pages *p);

/* ---- open_store.c ---- */

/* The checkpoint that was asked for; 0: the newest. */
uint64_t pages_chosen_epoch(void);

/* Collective: the leader opens the files of this node's ranks. `bytes`: the segment sizes of all ranks. *epoch: the
 * checkpoint that was restored, 0 if the files are new. *tried: the largest checkpoint number ever used. */
int pages_open_stores(struct pages *p, const struct net_boot *boot, const uint64_t *bytes, uint64_t *epoch,
                      uint64_t *tried);
/* `keep` false: the files are not marked clean. */
int pages_close_stores(struct pages *p, bool keep);

/* Removes the files that pages_open_stores created. They hold no data, and the next job would refuse them. */
void pages_forget_stores(struct pages *p);

#endif
