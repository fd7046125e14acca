/* pool_evict.c: drops copies: victims of the replacement policy and, before a checkpoint, all dirty copies.
 *
 * A copy is dropped by a request, which needs a window credit; POOL_FOR_EVICTION credits are kept for this. */
#include <errno.h>

#include "base/log.h"
#include "pages/pool/pool.h"

static bool is_only(void *pool, uint32_t frame) {
    struct pages_pool *p = pool;
    const struct pool_frame *f = &p->frames[frame];
    return atomic_load_explicit(&f->only, memory_order_relaxed) ||
           pages_replace_is_keeper(f->control.home, f->control.page, p->shared->nodes, p->shared->self);
}

/* Called with a window credit, which it uses or returns. */
static bool pool_evict(struct pages_pool *p, struct pool_bucket *b, struct pool_frame *f) {
    struct pages_effects e;
    if (!pages_control_evict(&f->control, &e)) {
        pages_pool_give_place(p);
        return false;
    }
    pages_pool_settle(p, b, f, false, &e);
    return true;
}

static bool try_to_evict(struct pages_pool *p, uint16_t home, uint32_t page,
                         const struct pool_frame *proposed) {
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(p, b, home, page);
    bool went = f && f == proposed && pool_evict(p, b, f);
    if (!f || f != proposed)
        pages_pool_give_place(p);
    pages_unlock(&b->lock);
    return went;
}

/* Proposes a frame whose copy may be dropped. Its page does not change while the frame is in the lists. */
static bool propose(struct pages_pool *p, uint32_t *frame, uint16_t *home, uint32_t *page) {
    struct pool_shared *s = p->shared;
    pages_lock(&s->lock);
    bool found = pages_replace_propose(&s->replace, p->links, is_only, p, frame);
    if (found) {
        *home = p->frames[*frame].control.home;
        *page = p->frames[*frame].control.page;
    }
    pages_unlock(&s->lock);
    return found;
}

int64_t pages_pool_evict_one(struct pages_pool *p) {
    uint32_t frame, page;
    uint16_t home;
    for (uint32_t tries = 0; tries < 2 * p->shared->frames; tries++) {
        if (!propose(p, &frame, &home, &page) || !pages_pool_claim_place(p, 0))
            return POOL_NO_FRAME;
        if (try_to_evict(p, home, page, &p->frames[frame])) {
            log_trace(LOG_PAGES, "page %u of node %u is evicted from frame %u", page, home, frame);
            return frame;
        }
    }
    log_trace(LOG_PAGES, "no page can be evicted now: all are in use or on their way");
    return POOL_NO_FRAME;
}

/* Locks and returns the bucket of the page in this frame; NULL: the frame holds no page. */
static struct pool_bucket *lock_page_in(struct pages_pool *p, uint32_t frame) {
    struct pool_frame *f = &p->frames[frame];
    pages_lock(&p->shared->lock);
    bool listed =
        p->links[frame].list != REPLACE_NONE; /* otherwise another thread may be writing `control` */
    uint16_t home = listed ? f->control.home : 0;
    uint32_t page = listed ? f->control.page : 0;
    pages_unlock(&p->shared->lock);
    if (!listed)
        return NULL;
    struct pool_bucket *b = pages_pool_bucket_of(p, home, page);
    pages_lock(&b->lock);
    if (pages_pool_find(p, b, home, page) == f)
        return b;
    pages_unlock(&b->lock);
    return NULL;
}

bool pages_pool_is_dirty(struct pages_pool *p, uint32_t frame, uint16_t *home, uint32_t *page) {
    const struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = lock_page_in(p, frame);
    if (!b)
        return false;
    bool dirty = pages_pool_is_newer(f);
    *home = f->control.home;
    *page = f->control.page;
    pages_unlock(&b->lock);
    return dirty;
}

int pages_pool_evict_dirty(struct pages_pool *p, uint32_t frame) {
    struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = lock_page_in(p, frame);
    int result = 0;
    if (!b)
        return 0;
    if (pages_pool_is_newer(f) || (f->control.open && !f->held))
        result = !f->control.open && pages_pool_claim_place(p, 0) && pool_evict(p, b, f) ? 1 : -EAGAIN;
    pages_unlock(&b->lock);
    return result;
}
