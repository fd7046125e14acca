/* inside.h: what a process has of the segments in pages. */
#ifndef HEARTH_PAGES_INSIDE_H
#define HEARTH_PAGES_INSIDE_H

#include <pthread.h>

#include "pages/ahead.h"
#include "pages/habit.h"
#include "pages/hints.h"
#include "pages/local.h"
#include "pages/pages.h"
#include "pages/service.h"

/* Of each rank; the table lies once in the memory of a node. */
struct pages_segment {
    uint64_t base, bytes;
    uint32_t first; /* number of its first page at its home */
    uint16_t home;
};

/* Each on a cache line of its own: they are counted by all threads. */
struct pages_tally {
    _Alignas(64) _Atomic uint64_t hits;
    _Alignas(64) _Atomic uint64_t misses, smalls, prefetched;
    _Atomic uint64_t faults, write_faults;
};

struct pages {
    /* for hits */
    struct pool pool;
    const struct pages_segment *segments; /* [size] */
    unsigned shift;                       /* of a page */
    size_t small;                         /* largest small operation; 0: none */
    uint64_t base, bytes;                 /* of our own segment */

    unsigned ahead_most;
    struct ahead ahead;
    struct habit habit;
    struct hints hints;
    pthread_mutex_t small_lock;              /* of what follows */
    struct pages_op *small_ops[POOL_SMALLS]; /* operations begun, by their slots */
    unsigned small_begun;

    struct pages_events events;
    struct net_world *world;
    struct local *local;
    bool ends; /* the process does: what other threads may use stays */
    struct mailbox *box;
    void *memory;
    size_t memory_bytes;
    int file;
    uint64_t found; /* the checkpoint that it began with; 0: none */
    uint64_t epoch; /* the last checkpoint */
    uint64_t tried; /* the largest number of one that any rank has begun */
    bool named, closes;
    struct net_channel *channel;

    /* of the leader */
    struct service service;
    struct mailbox *service_box;
    struct service_homes *homes;
    bool serves;

    struct pages_tally tally;
};

/* ---- show.c ---- */

/* To hearth top. */
void pages_show(const struct pages *p);
void pages_hide(const struct pages *p);

/* ---- open_store.c ---- */

/* The checkpoint that is asked for; 0: the newest. */
uint64_t pages_chosen_epoch(void);

/* Collective: opens the files of this node's ranks, in its leader; `bytes` of all ranks' segments. *epoch: the checkpoint
 * that was gone back to, 0 if the files are new; *tried: the largest number that was ever used. */
int pages_open_stores(struct pages *p, const struct net_boot *boot, const uint64_t *bytes, uint64_t *epoch,
                      uint64_t *tried);
/* `keep`: otherwise they are not marked as ended well. */
int pages_close_stores(struct pages *p, bool keep);

/* Removes the files that pages_open_stores has made: nothing was ever in them, and the next job would refuse them. */
void pages_forget_stores(struct pages *p);

#endif
