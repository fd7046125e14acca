/* pages_outside.h: one thread that plays all other nodes and the homes of all pages: the counterpart of a pool and its
 * segment.
 *
 * It does the work of a service (service_cache.c): it handles frames that need attention, sends the messages in their
 * outboxes, and notifies mappers. It also does the work of a home, for one other node: one transaction per page at a
 * time. That other node reads and writes pages at random: FWD_S, FWD_X and INV arrive at any moment.
 *
 * A page consists of words. Word 0 of each page belongs to the other node, which increments it whenever it has the
 * page exclusively. All other words belong to the test's threads. `truth` holds the state outside: the value of each
 * word when this side last had the page. */
#ifndef HEARTH_TEST_PAGES_OUTSIDE_H
#define HEARTH_TEST_PAGES_OUTSIDE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "pages/local/local.h"

enum { OUTSIDE = 1 };
enum outside_ours { OURS_NONE, OURS_SHARED, OURS_ALONE };

struct outside_page {
    enum outside_ours ours;
    bool outside;          /* the other node has a copy too, or had the last one */
    enum pages_kind busy;  /* the message whose completion is awaited, or 0 */
    enum pages_kind asked; /* a request that waits for its turn, or 0 */
    uint64_t *truth;
    uint64_t came; /* how often this side got the page */
};

struct outside {
    struct pages_pool *pool;
    struct outside_page *pages;
    uint32_t count;
    size_t words;
    struct random dice;
    _Atomic uint32_t every; /* the other node makes a request in one of this many rounds; 0: never */
    _Atomic uint64_t wants, takes, rounds;
    _Atomic bool stop;
    _Atomic int64_t wanted; /* a page that the other node must take at once, or -1 */
    uint64_t errors;
    pthread_t thread;
};

static inline void outside_fails(struct outside *o, const char *what, uint32_t page) {
    if (o->errors++ < 5)
        printf("outside: %s, page %u\n", what, page);
}

static inline void outside_tell(struct outside *o, uint32_t page, enum pages_kind kind, uint8_t flags,
                                uint8_t state) {
    struct pages_message m = {
        .page = page, .from = 0, .to = 0, .home = 0, .peer = OUTSIDE, .kind = (uint8_t)kind};
    struct pool_bucket *b = pages_pool_bucket_of(o->pool, 0, page);
    struct pages_effects e;
    m.flags = flags;
    m.state = state;
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(o->pool, b, 0, page);
    if (f && kind == PAGES_DATA)
        memcpy(pages_pool_memory(o->pool, pages_pool_frame_of(o->pool, f)), o->pages[page].truth,
               o->pool->page_bytes);
    bool was_asking = f && pages_control_is_asking(&f->control);
    if (!f || pages_control_receive(&f->control, &m, &e))
        outside_fails(o, "a message was refused", page);
    else
        pages_pool_settle(o->pool, b, f, was_asking, &e);
    pages_unlock(&b->lock);
}

/* ---- requests of this side ---- */

static inline void outside_get(struct outside *o, uint32_t page, bool write) {
    struct outside_page *g = &o->pages[page];
    g->busy = PAGES_UNBLOCK;
    if (g->ours != OURS_NONE) { /* the other node has a readable copy */
        g->ours = OURS_ALONE;
        g->outside = false;
        outside_tell(o, page, PAGES_GRANT, 0, 0);
        return;
    }
    g->came++;
    if (!write) {
        g->outside = g->outside && random_below(&o->dice, 2);
        g->ours = g->outside ? OURS_SHARED : OURS_ALONE;
        outside_tell(o, page, PAGES_DATA, 0, g->outside ? PAGES_S : PAGES_E);
        return;
    }
    g->ours = OURS_ALONE;
    g->outside = false;
    switch (random_below(&o->dice, 3)) { /* as one message, or two in any order */
    case 0:
        outside_tell(o, page, PAGES_DATA, PAGES_GRANTED, PAGES_M);
        return;
    case 1:
        outside_tell(o, page, PAGES_GRANT, 0, 0);
        outside_tell(o, page, PAGES_DATA, 0, PAGES_M);
        return;
    default:
        outside_tell(o, page, PAGES_DATA, 0, PAGES_M);
        outside_tell(o, page, PAGES_GRANT, 0, 0);
    }
}

static inline void outside_drop(struct outside *o, uint32_t page) {
    struct outside_page *g = &o->pages[page];
    if (g->ours == OURS_ALONE) {
        g->busy = PAGES_WRITEBACK_DATA;
        outside_tell(o, page, PAGES_WRITEBACK_REQ, 0, 0);
        return;
    }
    g->ours = OURS_NONE;
    outside_tell(o, page, PAGES_PUT_ACK, 0, 0);
}

static inline void outside_next(struct outside *o, uint32_t page) {
    struct outside_page *g = &o->pages[page];
    enum pages_kind kind = g->asked;
    if (g->busy || !kind)
        return;
    g->asked = PAGES_NOTHING;
    if (kind == PAGES_PUT)
        outside_drop(o, page);
    else
        outside_get(o, page, kind == PAGES_GETX);
}

/* ---- answers of this side ---- */

/* Checks the page as it is here: the words of the test's threads only increase, the other node's word is unchanged. */
static inline void outside_take_page(struct outside *o, uint32_t page, uint32_t frame) {
    struct outside_page *g = &o->pages[page];
    const uint64_t *here = (const uint64_t *)pages_pool_memory(o->pool, frame);
    if (here[0] != g->truth[0])
        outside_fails(o, "the other node's word is wrong", page);
    for (size_t w = 1; w < o->words; w++)
        if (here[w] < g->truth[w])
            outside_fails(o, "a store was lost", page);
    memcpy(g->truth, here, o->pool->page_bytes);
}

static inline void outside_write(struct outside *o, uint32_t page) {
    o->pages[page].ours = OURS_NONE;
    o->pages[page].outside = true;
    o->pages[page].truth[0]++;
    atomic_fetch_add_explicit(&o->takes, 1, memory_order_relaxed);
}

static inline void outside_hear(struct outside *o, const struct pages_message *m, uint32_t frame) {
    struct outside_page *g = &o->pages[m->page];
    switch (m->kind) {
    case PAGES_GETS:
    case PAGES_GETX:
    case PAGES_PUT:
        if (g->asked)
            outside_fails(o, "two requests at a time", m->page);
        g->asked = (enum pages_kind)m->kind;
        break;
    case PAGES_DATA:
        outside_take_page(o, m->page, frame);
        if (g->busy == PAGES_FWD_X)
            outside_write(o, m->page);
        else
            g->outside = true, g->ours = OURS_SHARED;
        g->busy = PAGES_NOTHING;
        break;
    case PAGES_IACK:
        outside_write(o, m->page);
        g->busy = PAGES_NOTHING;
        break;
    case PAGES_WRITEBACK_DATA:
        if (m->flags & PAGES_DIRTY)
            outside_take_page(o, m->page, frame);
        g->ours = OURS_NONE;
        g->busy = PAGES_NOTHING;
        break;
    case PAGES_UNBLOCK:
        g->busy = PAGES_NOTHING;
        break;
    default:
        outside_fails(o, "a message that was not expected", m->page);
    }
    outside_next(o, m->page);
}

/* ---- requests of the other node ---- */

static inline void outside_want(struct outside *o, uint32_t page, bool write) {
    struct outside_page *g = &o->pages[page];
    if (g->busy)
        return;
    atomic_fetch_add_explicit(&o->wants, 1, memory_order_relaxed);
    if (g->ours == OURS_NONE) {
        if (write)
            outside_write(o, page);
        return;
    }
    if (!write && g->outside)
        return;
    g->busy = !write ? PAGES_FWD_S : g->ours == OURS_SHARED ? PAGES_INV : PAGES_FWD_X;
    uint8_t flags = g->busy == PAGES_FWD_X ? PAGES_GRANTED : 0;
    outside_tell(o, page, g->busy, flags, 0);
}

/* ---- the service ---- */

static inline void outside_look_after(struct outside *o, uint32_t frame) {
    struct pages_pool *p = o->pool;
    struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = pages_pool_bucket_of(p, f->control.home, f->control.page);
    struct pages_message box[POOL_OUTBOX];
    pages_lock(&b->lock);
    uint8_t messages = f->outbox_count, actions = f->actions;
    memcpy(box, f->outbox, sizeof(box));
    f->outbox_count = f->actions = 0;
    f->called = false;
    pages_unlock(&b->lock);
    if (actions & (PAGES_UNMAP | PAGES_PROTECT))
        pages_mapper_ask(p, frame, actions & PAGES_UNMAP ? PAGES_UNMAPPED : PAGES_TO_READ);
    for (uint8_t i = 0; i < messages; i++)
        outside_hear(o, &box[i], frame);
    pages_lock(&b->lock);
    bool is_free = f->gone && !f->called;
    pages_unlock(&b->lock);
    if (is_free)
        pages_pool_free(p, frame);
}

static inline bool outside_round(struct outside *o) {
    bool did = false;
    for (uint32_t at = pages_pool_take_attention(o->pool), next; at; at = next, did = true) {
        next = o->pool->frames[at - 1].attention;
        outside_look_after(o, at - 1);
    }
    if (atomic_load(&o->pool->shared->free_count) < pages_pool_wanted_free(o->pool))
        did |= pages_pool_evict_one(o->pool) >= 0;
    uint32_t every = atomic_load_explicit(&o->every, memory_order_relaxed);
    if (every && random_below(&o->dice, every) == 0)
        outside_want(o, random_below(&o->dice, o->count), random_below(&o->dice, 2));
    int64_t wanted = atomic_load(&o->wanted);
    if (wanted >= 0 && !o->pages[wanted].busy) {
        outside_want(o, (uint32_t)wanted, true);
        atomic_store(&o->wanted, -1);
    }
    atomic_fetch_add_explicit(&o->rounds, 1, memory_order_relaxed);
    return did;
}

static inline void *outside_run(void *arg) {
    struct outside *o = arg;
    while (!atomic_load(&o->stop))
        if (!outside_round(o))
            nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
    return NULL;
}

static inline void outside_start(struct outside *o, struct pages_pool *pool, uint32_t pages, uint64_t seed) {
    memset(o, 0, sizeof(*o));
    o->pool = pool;
    o->count = pages;
    o->words = pool->page_bytes / sizeof(uint64_t);
    o->pages = calloc(pages, sizeof(*o->pages));
    atomic_store(&o->wanted, -1);
    random_seed(&o->dice, seed);
    for (uint32_t i = 0; i < pages; i++) {
        o->pages[i].truth = calloc(1, pool->page_bytes);
        for (size_t w = 0; w < o->words; w++)
            o->pages[i].truth[w] = random_mix((uint64_t)i << 32 | w) >> 2;
    }
    pthread_create(&o->thread, NULL, outside_run, o);
}

static inline void outside_stop(struct outside *o) {
    atomic_store(&o->stop, true);
    pthread_join(o->thread, NULL);
}

static inline void outside_free(struct outside *o) {
    for (uint32_t i = 0; i < o->count; i++)
        free(o->pages[i].truth);
    free(o->pages);
}

#endif
