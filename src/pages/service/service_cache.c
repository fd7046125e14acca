/* service_cache.c: the copies in the node's pool: messages to their controllers, the resulting actions, and eviction. */
#include <errno.h>
#include <string.h>

#include "pages/local/local.h"
#include "pages/service/service.h"

static void count_message(struct service *s, const struct pages_message *m) {
    struct pool_counts *c = &s->pool->shared->counts;
    if (m->kind == PAGES_DATA && !(m->flags & PAGES_OVERWRITE))
        pages_pool_count(m->from == s->self   ? &c->from_nvm
                         : m->from == m->home ? &c->from_home
                                              : &c->from_peers);
    else if (m->kind == PAGES_FWD_S || m->kind == PAGES_FWD_X)
        pages_pool_count(&c->served_peers);
    else if (m->kind == PAGES_INV)
        pages_pool_count(&c->invalidated);
}

/* ---- messages ---- */

/* At most two messages of an outbox are caused by other nodes: our request, and the answer to a message of the home,
 * which sends no further message before it has that answer. The other entries are for messages that this node itself
 * causes in the meantime. */
enum { FROM_OTHERS = POOL_OUTBOX - 2 };

static void copy_receive(struct service *s, const struct pages_message *m) {
    struct pages_pool *p = s->pool;
    struct pool_bucket *b = pages_pool_bucket_of(p, m->home, m->page);
    struct pages_effects e;
    int status = -EPROTO;
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(p, b, m->home, m->page);
    if (f) {
        bool was_asking = pages_control_is_asking(&f->control);
        status = pages_control_receive(&f->control, m, &e);
        if (status == 0 && f->outbox_count + e.count > FROM_OTHERS)
            status = -EPROTO;
        if (status == 0)
            pages_pool_settle(p, b, f, was_asking, &e);
    }
    pages_unlock(&b->lock);
    if (status != 0)
        pages_service_refuse(s, m);
    else
        count_message(s, m);
}

/* The frame of a page that we have requested. It stays until the page has arrived. */
static struct pool_frame *copy_frame_asked_for(struct service *s, const struct pages_message *m) {
    struct pool_bucket *b = pages_pool_bucket_of(s->pool, m->home, m->page);
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(s->pool, b, m->home, m->page);
    bool asked =
        f && (f->control.open == PAGES_GETS || f->control.open == PAGES_GETX) && f->control.state == PAGES_I;
    pages_unlock(&b->lock);
    return asked ? f : NULL;
}

/* Copies a piece into the frame. Returns whether the page is complete. */
static bool copy_deliver(struct service *s, struct pool_frame *f, const struct wire *w, const char *data) {
    char *page = pages_pool_memory(s->pool, pages_pool_frame_of(s->pool, f));
    if (w->zero) {
        if (!(w->message.flags & PAGES_OVERWRITE))
            memset(page, 0, s->pool->page_bytes);
        return true;
    }
    if (data != page + w->offset) /* otherwise it was received in place, or read from the NVM */
        memcpy(page + w->offset, data, w->bytes);
    f->came += w->bytes;
    if (f->came < w->whole)
        return false;
    f->came = 0;
    return true;
}

char *pages_cache_place(struct service *s, const struct pages_message *m) {
    const struct pool_frame *f = copy_frame_asked_for(s, m);
    return f ? pages_pool_memory(s->pool, pages_pool_frame_of(s->pool, f)) : NULL;
}

static void copy_take_data(struct service *s, const struct wire *w, const char *data) {
    struct pool_frame *f = copy_frame_asked_for(s, &w->message);
    if (!f)
        pages_service_refuse(s, &w->message);
    else if (copy_deliver(s, f, w, data))
        copy_receive(s, &w->message);
}

/* The operation is applied and answered immediately, so that the answer is the content at this moment. */
static void copy_take_small(struct service *s, const struct wire *w, const char *data) {
    const struct pages_message *m = &w->message;
    struct pages_pool *p = s->pool;
    struct pool_bucket *b = pages_pool_bucket_of(p, m->home, m->page);
    struct pages_effects e;
    struct load answer = {0};
    int status = -EPROTO;
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(p, b, m->home, m->page);
    if (f && pages_bounce_is_left(&s->bounces) && (status = pages_control_receive(&f->control, m, &e)) == 0) {
        struct pages_effects rest = {.actions = e.actions};
        pages_small_serve(s, pages_pool_memory(p, pages_pool_frame_of(p, f)), w, data, &answer);
        pages_pool_settle(p, b, f, pages_control_is_asking(&f->control), &rest);
    }
    pages_unlock(&b->lock);
    if (status != 0) {
        pages_service_refuse(s, m);
        return;
    }
    pages_service_send(s, &e.messages[0], answer);
    pages_service_send(s, &e.messages[1], (struct load){0});
}

void pages_cache_take(struct service *s, const struct wire *w, const char *data) {
    if (w->message.kind == PAGES_DATA)
        copy_take_data(s, w, data);
    else if (w->message.kind == PAGES_FWD_SMALL)
        copy_take_small(s, w, data);
    else if (w->message.kind == PAGES_ANSWER)
        pages_small_answered(s, w, data);
    else
        copy_receive(s, &w->message);
}

/* ---- actions of the controllers ---- */

static void free_frame(struct service *s, uint32_t frame) {
    struct pool_frame *f = &s->pool->frames[frame];
    if (f->leaving) {
        f->leaving = false;
        s->leaving--;
        pages_pool_count(&s->pool->shared->counts.evicted);
    }
    pages_pool_free(s->pool, frame);
}

static struct load copy_load_of(const struct pages_message *m, uint32_t frame) {
    bool page = m->kind == PAGES_DATA || (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY);
    return (struct load){.kind = page ? LOAD_FRAME : LOAD_NONE, .index = frame};
}

/* During a checkpoint the requests of frames without a changed page are held back: if such a frame became the owner of a
 * page, the previous owner's changes would not be written before the checkpoint. The owner's own request to write is
 * sent, as an open request prevents dropping the copy. */
static bool copy_hold_back(struct service *s, struct pool_frame *f, const struct pages_message *m) {
    if (m->kind != PAGES_GETS && m->kind != PAGES_GETX)
        return false;
    f->held = true;
    s->held.messages[s->held.frames++] = *m;
    s->held.count++;
    return true;
}

static void look_after(struct service *s, uint32_t frame) {
    struct pages_pool *p = s->pool;
    struct pool_frame *f = &p->frames[frame];
    struct pool_bucket *b = pages_pool_bucket_of(p, f->control.home, f->control.page);
    struct pages_message box[POOL_OUTBOX];
    pages_lock(&b->lock);
    uint8_t messages = f->outbox_count, actions = f->actions;
    bool may_wait = s->held.on && !pages_pool_is_newer(f);
    memcpy(box, f->outbox, messages * sizeof *box);
    f->outbox_count = f->actions = 0;
    f->called = false;
    pages_unlock(&b->lock);
    if (actions & (PAGES_UNMAP | PAGES_PROTECT)) {
        pages_pool_count(&p->shared->counts.unmapped);
        pages_mapper_ask(p, frame, actions & PAGES_UNMAP ? PAGES_UNMAPPED : PAGES_TO_READ);
    }
    f->sends++; /* not free before all are sent */
    for (uint8_t i = 0; i < messages; i++)
        if (!may_wait || !copy_hold_back(s, f, &box[i]))
            pages_service_send(s, &box[i], copy_load_of(&box[i], frame));
    pages_cache_left(s, frame);
}

/* The frame stays while its request is open. */
static bool cache_release_one(struct service *s, const struct pages_message *m, bool only_owners) {
    struct pool_bucket *b = pages_pool_bucket_of(s->pool, m->home, m->page);
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(s->pool, b, m->home, m->page);
    bool goes = !only_owners || pages_pool_is_newer(f);
    f->held = f->held && !goes;
    pages_unlock(&b->lock);
    if (goes)
        pages_service_send(s, m, (struct load){0});
    return goes;
}

void pages_cache_release(struct service *s, bool only_owners) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->held.frames; i++) {
        struct pages_message m = s->held.messages[i];
        if (!cache_release_one(s, &m, only_owners))
            s->held.messages[kept++] = m;
    }
    s->held.count -= s->held.frames - kept;
    s->held.frames = kept;
}

unsigned pages_cache_look_after(struct service *s) {
    unsigned frames = 0;
    for (uint32_t i = pages_pool_take_attention(s->pool), next; i; i = next, frames++) {
        next = s->pool->frames[i - 1].attention;
        look_after(s, i - 1);
    }
    return frames;
}

/* A frame that is in the attention list has more to send. */
void pages_cache_left(struct service *s, uint32_t frame) {
    struct pool_frame *f = &s->pool->frames[frame];
    struct pool_bucket *b = pages_pool_bucket_of(s->pool, f->control.home, f->control.page);
    pages_lock(&b->lock);
    bool is_free = --f->sends == 0 && f->gone && !f->called;
    pages_unlock(&b->lock);
    if (is_free)
        free_frame(s, frame);
}

/* ---- eviction ---- */

unsigned pages_cache_make_room(struct service *s) {
    unsigned dropped = 0;
    uint32_t wanted = pages_pool_wanted_free(s->pool);
    while (atomic_load_explicit(&s->pool->shared->free_count, memory_order_relaxed) + s->leaving < wanted) {
        int64_t frame = pages_pool_evict_one(s->pool);
        if (frame < 0)
            break;
        s->pool->frames[frame].leaving = true;
        s->leaving++;
        dropped++;
    }
    return dropped;
}
