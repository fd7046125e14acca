/* pool.c: the page pool of a node: frames, pins and waits.
 *
 * A hit takes the lock of a bucket twice, for the few instructions of the controller; the page is copied in between,
 * under a pin. Everything else is for misses.
 *
 * Lock order: bucket, then pool. A thread that waits holds neither lock nor pin. It waits for a frame, which the
 * service frees by dropping a copy; for a window credit, which is returned when a request ends; or for its page.
 * Requests end without depending on any of these waits, so all waits end. */
#include "pages/pool/pool.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"

enum { BEFORE_SLEEP_NS = 5000 };

/* ---- waiting ---- */

/* Waits until *word differs from `seen`. Spins briefly first, as most answers inside a node arrive soon. */
void pages_pool_wait_for_change(struct pages_pool *p, _Atomic uint32_t *word, uint32_t seen,
                                _Atomic uint32_t *sleepers) {
    pages_pool_work work_until =
        atomic_load_explicit(&p->work_until, memory_order_acquire); /* pairs with start_service() */
    if (work_until && work_until(p->service, word, seen))
        return;
    uint64_t end = clock_ns() + BEFORE_SLEEP_NS;
    do
        if (atomic_load_explicit(word, memory_order_acquire) != seen) /* pairs with pool_wake() */
            return;
    while (clock_ns() < end);
    atomic_fetch_add(sleepers, 1);
    while (atomic_load(word) == seen)
        pages_sleep_on(word, seen, UINT64_MAX);
    atomic_fetch_sub(sleepers, 1);
}

/* Sequentially consistent on both sides: either we see the sleeper or the sleeper sees the change. */
static void pool_wake(_Atomic uint32_t *word, _Atomic uint32_t *sleepers) {
    atomic_fetch_add(word, 1);
    if (atomic_load(sleepers) > 0)
        pages_wake_all(word);
}

void pages_pool_doorbell(struct pages_pool *p) {
    if (p->doorbell)
        net_mailbox_doorbell(p->doorbell);
}

/* ---- the request window ---- */

bool pages_pool_claim_place(struct pages_pool *p, int32_t leave) {
    int32_t left = atomic_load_explicit(&p->shared->window, memory_order_relaxed);
    while (left > leave)
        if (atomic_compare_exchange_weak_explicit(&p->shared->window, &left, left - 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return true;
    return false;
}

void pages_pool_give_place(struct pages_pool *p) {
    atomic_fetch_add_explicit(&p->shared->window, 1, memory_order_release);
    pool_wake(&p->shared->closed, &p->shared->window_waiters);
}

bool pages_pool_take_place(struct pages_pool *p) {
    return pages_pool_claim_place(p, POOL_FOR_EVICTION);
}

static void wait_for_place(struct pages_pool *p) {
    struct pool_shared *s = p->shared;
    uint32_t seen = atomic_load(&s->closed);
    if (atomic_load(&s->window) <= POOL_FOR_EVICTION)
        pages_pool_wait_for_change(p, &s->closed, seen, &s->window_waiters);
}

/* ---- free frames ---- */

uint32_t pages_pool_wanted_free(const struct pages_pool *p) {
    uint32_t share = p->shared->frames / 16;
    return share < 2 ? 2 : share > 64 ? 64 : share;
}

static int64_t pool_take_frame(struct pages_pool *p, uint32_t leave) {
    struct pool_shared *s = p->shared;
    int64_t frame = POOL_NO_FRAME;
    pages_lock(&s->lock);
    uint32_t count = atomic_load_explicit(&s->free_count, memory_order_relaxed);
    if (count > leave) {
        frame = (int64_t)s->first_free - 1;
        ASSERT(frame >= 0 && frame < s->frames && !p->frames[frame].gone);
        s->first_free = p->frames[frame].next;
        atomic_store_explicit(&s->free_count, count - 1, memory_order_relaxed);
    }
    pages_unlock(&s->lock);
    if (count <= pages_pool_wanted_free(p) + 1)
        pages_pool_doorbell(p);
    return frame;
}

static void put_frame(struct pages_pool *p, uint32_t frame) {
    struct pool_shared *s = p->shared;
    pages_lock(&s->lock);
    ASSERT(frame < s->frames && !p->frames[frame].gone);
    ASSERT(p->links[frame].list == REPLACE_NONE);
    p->frames[frame].next = s->first_free;
    s->first_free = frame + 1;
    atomic_fetch_add_explicit(&s->free_count, 1, memory_order_relaxed);
    pages_unlock(&s->lock);
    pool_wake(&s->freed, &s->frame_waiters);
}

static uint32_t wait_for_frame(struct pages_pool *p) {
    struct pool_shared *s = p->shared;
    for (;;) {
        uint32_t seen = atomic_load(&s->freed);
        int64_t frame = pool_take_frame(p, 0);
        if (frame >= 0)
            return (uint32_t)frame;
        pages_pool_wait_for_change(p, &s->freed, seen, &s->frame_waiters);
    }
}

int64_t pages_pool_borrow(struct pages_pool *p) {
    int64_t frame = pool_take_frame(p, 0);
    if (frame < 0)
        return frame;
    p->frames[frame].gone = true;
    p->frames[frame].sends = 1;
    return frame;
}

void pages_pool_free(struct pages_pool *p, uint32_t frame) {
    struct pool_frame *f = &p->frames[frame];
    ASSERT(f->gone && f->sends == 0 && f->outbox_count == 0);
    f->gone = false;
    put_frame(p, frame);
}

/* ---- page lookup ---- */

static uint64_t mix(uint64_t x) {
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 32;
}

struct pool_bucket *pages_pool_bucket_of(const struct pages_pool *p, uint16_t home, uint32_t page) {
    return &p->buckets[mix((uint64_t)home << 32 | page) & (p->shared->buckets - 1)];
}

struct pool_frame *pages_pool_find(const struct pages_pool *p, const struct pool_bucket *b, uint16_t home,
                                   uint32_t page) {
    for (uint32_t i = b->first; i; i = p->frames[i - 1].next) {
        struct pool_frame *f = &p->frames[i - 1];
        if (LIKELY(f->control.page == page && f->control.home == home))
            return f;
    }
    return NULL;
}

static struct pool_frame *pool_insert(struct pages_pool *p, struct pool_bucket *b, uint32_t frame,
                                      uint16_t home, uint32_t page) {
    struct pool_frame *f = &p->frames[frame];
    pages_control_open(&f->control, p->shared->self, home, page);
    ASSERT(!f->gone && f->sends == 0 && f->outbox_count == 0);
    f->came = 0;
    f->held = false;
    f->stay_until = 0;
    atomic_store_explicit(&f->only, 0, memory_order_relaxed);
    atomic_store_explicit(&f->fresh, 0, memory_order_relaxed);
    f->next = b->first;
    b->first = frame + 1;
    pages_lock(&p->shared->lock);
    pages_replace_add(&p->shared->replace, p->links, frame, pages_replace_name(home, page));
    pages_unlock(&p->shared->lock);
    return f;
}

static void pool_take_out(struct pages_pool *p, struct pool_bucket *b, struct pool_frame *f) {
    uint32_t *at = &b->first, frame = pages_pool_frame_of(p, f);
    while (*at != frame + 1)
        at = &p->frames[*at - 1].next;
    ASSERT(pages_pool_bucket_of(p, f->control.home, f->control.page) == b);
    *at = f->next;
    pages_lock(&p->shared->lock);
    pages_replace_remove(&p->shared->replace, p->links, frame);
    pages_unlock(&p->shared->lock);
}

/* ---- effects of the controller ---- */

static void call_service(struct pages_pool *p, struct pool_frame *f) {
    if (f->called)
        return;
    f->called = true;
    uint32_t first = atomic_load_explicit(&p->shared->attention, memory_order_relaxed);
    do
        f->attention = first;
    while (!atomic_compare_exchange_weak_explicit(&p->shared->attention, &first,
                                                  pages_pool_frame_of(p, f) + 1, memory_order_release,
                                                  memory_order_relaxed));
    pages_pool_doorbell(p);
}

static void wake_waiters(struct pool_frame *f, uint8_t actions) {
    if (actions & PAGES_READY)
        pool_wake(&f->ready, &f->sleepers);
    if (actions & PAGES_RETRY)
        pool_wake(&f->again, &f->sleepers);
}

void pages_pool_settle(struct pages_pool *p, struct pool_bucket *b, struct pool_frame *f, bool was_asking,
                       const struct pages_effects *e) {
    enum { FOR_SERVICE = PAGES_UNMAP | PAGES_PROTECT | PAGES_FREED };
    uint8_t state = f->control.state;
    atomic_store_explicit(&f->only, state == PAGES_E || state == PAGES_M, memory_order_relaxed);
    for (uint8_t i = 0; i < e->count; i++) {
        if (f->outbox_count == POOL_OUTBOX)
            abort(); /* pool.h says why this cannot happen */
        f->outbox[f->outbox_count++] = e->messages[i];
    }
    f->actions |= e->actions & (PAGES_UNMAP | PAGES_PROTECT);
    if (e->actions & PAGES_FREED) {
        f->gone = true;
        pool_take_out(p, b, f);
    }
    if (e->count > 0 || e->actions & FOR_SERVICE)
        call_service(p, f);
    if (was_asking && !pages_control_is_asking(&f->control))
        pages_pool_give_place(p);
    wake_waiters(f, e->actions);
}

uint32_t pages_pool_take_attention(struct pages_pool *p) {
    if (atomic_load_explicit(&p->shared->attention, memory_order_relaxed) == 0)
        return 0;
    uint32_t first = 0, next;
    for (uint32_t i = atomic_exchange_explicit(&p->shared->attention, 0, memory_order_acquire); i; i = next) {
        next = p->frames[i - 1].attention;
        p->frames[i - 1].attention = first;
        first = i;
    }
    return first;
}

/* ---- pins ---- */

static bool is_hit(const struct pages_control *c, bool write) {
    return write ? c->state == PAGES_M || c->state == PAGES_E : c->state != PAGES_I;
}

/* The access for which a page was fetched does not count as a use; otherwise every page of a scan would stay for
 * another round. A prefetched page is marked as used until its first access, so that it is not dropped before. */
static void pool_mark_used(struct pages_pool *p, uint32_t frame) {
    _Atomic uint8_t *used = &p->links[frame].used;
    bool fresh = atomic_load_explicit(&p->frames[frame].fresh, memory_order_relaxed);
    if (UNLIKELY(fresh))
        atomic_store_explicit(used, 0, memory_order_relaxed);
    else if (!atomic_load_explicit(used, memory_order_relaxed)) /* the test keeps the cache line shared */
        atomic_store_explicit(used, 1, memory_order_relaxed);
}

int64_t pages_pool_try_pin(struct pages_pool *p, uint16_t home, uint32_t page, bool write) {
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    struct pages_effects e;
    int64_t got = POOL_NO_FRAME;
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(p, b, home, page);
    if (f && is_hit(&f->control, write) && pages_control_acquire(&f->control, write, &e) == PAGES_HIT)
        got = pages_pool_frame_of(p, f);
    pages_unlock(&b->lock);
    if (got >= 0)
        pool_mark_used(p, (uint32_t)got);
    return got;
}

enum pool_access { TO_READ, TO_WRITE, TO_OVERWRITE };

/* Called with the bucket's lock, which it releases. Returns whether the page is pinned. May wait. */
static bool pool_acquire(struct pages_pool *p, struct pool_bucket *b, struct pool_frame *f,
                         enum pool_access access) {
    struct pages_effects e;
    bool write = access != TO_READ, asks = !is_hit(&f->control, write) && !f->control.open;
    if (asks && !pages_pool_claim_place(p, POOL_FOR_EVICTION)) {
        pages_unlock(&b->lock);
        wait_for_place(p);
        return false;
    }
    bool was_asking = pages_control_is_asking(&f->control);
    uint32_t ready = atomic_load(&f->ready), again = atomic_load(&f->again);
    enum pages_got got = access == TO_OVERWRITE ? pages_control_overwrite(&f->control, &e)
                                                : pages_control_acquire(&f->control, write, &e);
    pages_pool_settle(p, b, f, was_asking, &e);
    bool asked = !was_asking && pages_control_is_asking(&f->control);
    pages_unlock(&b->lock);
    if (asks && !asked)
        pages_pool_give_place(p);
    if (got == PAGES_WAIT)
        pages_pool_wait_for_change(p, &f->ready, ready, &f->sleepers);
    else if (got == PAGES_LATER)
        pages_pool_wait_for_change(p, &f->again, again, &f->sleepers);
    return got != PAGES_LATER;
}

static uint32_t pool_pin(struct pages_pool *p, uint16_t home, uint32_t page, enum pool_access access) {
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    int64_t spare = POOL_NO_FRAME;
    bool brought = false;
    for (;;) {
        pages_lock(&b->lock);
        struct pool_frame *f = pages_pool_find(p, b, home, page);
        if (!f && spare >= 0) {
            f = pool_insert(p, b, (uint32_t)spare, home, page);
            spare = POOL_NO_FRAME;
            brought = true;
        }
        if (!f) {
            pages_unlock(&b->lock);
            spare = wait_for_frame(p);
        } else if (pool_acquire(p, b, f, access)) {
            if (spare >= 0)
                put_frame(p, (uint32_t)spare);
            if (!brought)
                pool_mark_used(p, pages_pool_frame_of(p, f));
            return pages_pool_frame_of(p, f);
        }
    }
}

uint32_t pages_pool_pin(struct pages_pool *p, uint16_t home, uint32_t page, bool write) {
    return pool_pin(p, home, page, write ? TO_WRITE : TO_READ);
}

uint32_t pages_pool_pin_to_overwrite(struct pages_pool *p, uint16_t home, uint32_t page) {
    return pool_pin(p, home, page, TO_OVERWRITE);
}

void pages_pool_unpin(struct pages_pool *p, uint32_t frame, bool write) {
    struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = pages_pool_bucket_of(p, f->control.home, f->control.page);
    struct pages_effects e;
    pages_lock(&b->lock);
    if (LIKELY(!f->control.put_off && !f->control.flags)) { /* no message has to be sent */
        ASSERT(write ? f->control.writers > 0 : f->control.readers > 0);
        if (write)
            f->control.writers--;
        else
            f->control.readers--;
    } else {
        bool was_asking = pages_control_is_asking(&f->control);
        pages_control_release(&f->control, write, &e);
        pages_pool_settle(p, b, f, was_asking, &e);
    }
    pages_unlock(&b->lock);
}

bool pages_pool_is_fresh(struct pages_pool *p, uint32_t frame) {
    _Atomic uint8_t *fresh = &p->frames[frame].fresh;
    return atomic_load_explicit(fresh, memory_order_relaxed) && atomic_exchange(fresh, 0);
}

bool pages_pool_has(struct pages_pool *p, uint16_t home, uint32_t page, bool write) {
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(p, b, home, page);
    bool has = f && is_hit(&f->control, write);
    pages_unlock(&b->lock);
    return has;
}

static bool is_here(struct pages_pool *p, uint16_t home, uint32_t page) {
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    pages_lock(&b->lock);
    bool here = pages_pool_find(p, b, home, page) != NULL;
    pages_unlock(&b->lock);
    return here;
}

/* Leaves frames and window credits for threads that need them now. */
bool pages_pool_prefetch(struct pages_pool *p, uint16_t home, uint32_t page) {
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    struct pages_effects e;
    if (is_here(p, home, page) || !pages_pool_claim_place(p, 2 * POOL_FOR_EVICTION))
        return false;
    int64_t frame = pool_take_frame(p, pages_pool_wanted_free(p) / 2);
    if (frame < 0) {
        pages_pool_give_place(p);
        return false;
    }
    pages_lock(&b->lock);
    bool asked = pages_pool_find(p, b, home, page) == NULL;
    if (asked) {
        struct pool_frame *f = pool_insert(p, b, (uint32_t)frame, home, page);
        atomic_store_explicit(&f->fresh, 1, memory_order_relaxed);
        atomic_store_explicit(&p->links[frame].used, 1, memory_order_relaxed);
        pages_control_prefetch(&f->control, &e);
        pages_pool_settle(p, b, f, false, &e);
    }
    pages_unlock(&b->lock);
    if (!asked) {
        put_frame(p, (uint32_t)frame);
        pages_pool_give_place(p);
    }
    return asked;
}

void pages_pool_mapped(struct pages_pool *p, uint32_t frame, enum pages_level level) {
    struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = pages_pool_bucket_of(p, f->control.home, f->control.page);
    pages_lock(&b->lock);
    pages_control_map(&f->control, level);
    pages_unlock(&b->lock);
}

void pages_pool_lowered(struct pages_pool *p, uint32_t frame, enum pages_level level) {
    struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = pages_pool_bucket_of(p, f->control.home, f->control.page);
    struct pages_effects e;
    pages_lock(&b->lock);
    bool was_asking = pages_control_is_asking(&f->control);
    pages_control_unmapped(&f->control, level, &e);
    pages_pool_settle(p, b, f, was_asking, &e);
    pages_unlock(&b->lock);
}
