/* service_disk.c: reads and writes of the NVM for the transactions of the home.
 *
 * Some of them need no I/O. A page that was never written is zero. A page that this node holds itself (only without
 * cooperation) is copied from its frame. With HEARTH_WRITE_BACK=dram, a page that returned to the home is in memory
 * only for a while (`behind`), and is read from there.
 *
 * A page for this node's own pool is read directly into its frame, and a page that leaves the pool is written directly
 * from its frame. */
#include <errno.h>
#include <string.h>

#include "pages/service/service.h"

enum { AT_ONCE = 32 };

static struct service_homes *home_of(struct service *s, uint32_t page) {
    struct service_homes *h = s->stores.homes;
    while (page >= h->first + h->pages)
        h++;
    return h;
}

int pages_io_submit(struct service *s, enum store_way way, uint32_t page, char *memory, uint64_t token) {
    struct service_homes *h = home_of(s, page);
    int status = pages_store_submit(h->store, way, page - h->first, memory, token);
    if (status == 0) {
        s->io.under_way++;
        pages_pool_count(way == STORE_READ ? &s->pool->shared->counts.nvm_reads
                                           : &s->pool->shared->counts.nvm_writes);
    } else if (status != -EAGAIN && status != -EBUSY) {
        pages_service_fail(s, "page %u of this node cannot be %s: %s", page,
                           way == STORE_READ ? "read" : "written", strerror(-status));
    }
    return status;
}

void pages_io_fail_full(struct service *s, uint32_t page, int error) {
    pages_service_fail(s, "no memory is left for pages that cannot be written: %s: %s%s",
                       pages_store_label(home_of(s, page)->store), strerror(-error),
                       pages_store_advice(error));
}

static void io_go(struct service *s, struct work *w) {
    int status = pages_io_submit(s, w->reading ? STORE_READ : STORE_WRITE, w->page, w->memory,
                                 (uint64_t)(w - s->home.works));
    bool stalled = status == -EAGAIN || status == -EBUSY;
    if (stalled != w->stalled)
        s->io.stalled += stalled ? 1 : UINT32_MAX;
    w->stalled = stalled;
}

/* ---- space ---- */

int pages_io_reserve_page(struct service *s, uint32_t page) {
    struct service_homes *h = home_of(s, page);
    return pages_store_reserve(h->store, page - h->first);
}

int pages_io_reserve_behind(struct service *s) {
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < s->behind.end; i++)
        if (s->behind.entries[i].page && s->behind.entries[i].dirty)
            status = pages_io_reserve_page(s, s->behind.entries[i].page - 1);
    return status;
}

/* ---- reading ---- */

static int64_t io_frame_asked_for(struct service *s, uint32_t page) {
    struct pool_bucket *b = pages_pool_bucket_of(s->pool, s->self, page);
    pages_lock(&b->lock);
    struct pool_frame *f = pages_pool_find(s->pool, b, s->self, page);
    int64_t frame = f ? (int64_t)pages_pool_frame_of(s->pool, f) : POOL_NO_FRAME;
    pages_unlock(&b->lock);
    return frame;
}

/* Copies the page from memory, if it is there. */
static bool io_copy(struct service *s, struct work *w) {
    const struct behind *b = pages_behind_of(s, w->page);
    int64_t frame = POOL_NO_FRAME;
    if (b)
        memcpy(w->memory, b->buffer, s->pool->page_bytes);
    else if (!s->coop && (frame = pages_pool_try_pin(s->pool, s->self, w->page, false)) >= 0) {
        memcpy(w->memory, pages_pool_memory(s->pool, (uint32_t)frame), s->pool->page_bytes);
        pages_pool_unpin(s->pool, (uint32_t)frame, false);
    }
    return b || frame >= 0;
}

static bool io_is_hole(struct service *s, uint32_t page) {
    struct service_homes *h = home_of(s, page);
    return pages_store_is_hole(h->store, page - h->first);
}

/* Returns whether the page is available immediately. */
static bool read_page(struct service *s, struct work *w) {
    w->reading = true;
    if (io_copy(s, w))
        return true;
    if (io_is_hole(s, w->page)) {
        pages_pool_count(&s->pool->shared->counts.nvm_holes);
        w->zero = true;
        return true;
    }
    io_go(s, w);
    return false;
}

static bool write_page(struct service *s, struct work *w) {
    w->reading = false;
    if ((s->stores.write_behind || pages_behind_of(s, w->page)) && pages_behind_keep(s, w->page, w->memory))
        return true;
    io_go(s, w);
    return false;
}

/* ---- I/O of a transaction ---- */

/* The page is in the buffer, or zero. Applies the operation and writes the page if it has changed. */
static void apply(struct service *s, struct work *w) {
    if (w->zero)
        memset(w->memory, 0, s->pool->page_bytes);
    w->zero = w->applying = false;
    pages_small_apply(s, w->memory, pages_bounce_of(&s->bounces, (uint32_t)w->bounce - 1), w->dirty);
    if (!w->dirty || write_page(s, w))
        pages_home_finished(s, w);
}

static void io_is_done(struct service *s, struct work *w) {
    if (w->applying)
        apply(s, w);
    else
        pages_home_finished(s, w);
}

void pages_io_begin(struct service *s, struct work *w, enum pages_io io, uint64_t bounce,
                    uint16_t requester) {
    if (io == PAGES_WRITE) {
        if (write_page(s, w))
            pages_home_finished(s, w);
        return;
    }
    w->zero = false;
    w->memory = w->buffer;
    w->frame = io == PAGES_READ && requester == s->self ? io_frame_asked_for(s, w->page) : POOL_NO_FRAME;
    if (w->frame >= 0)
        w->memory = pages_pool_memory(s->pool, (uint32_t)w->frame);
    w->applying = io == PAGES_APPLY;
    w->bounce = bounce;
    w->dirty = w->applying && pages_directory_writes(s->home.directory, w->page);
    if (read_page(s, w))
        io_is_done(s, w);
}

/* ---- completions ---- */

/* A page that cannot be read has no other copy, so the job ends. A page that cannot be written stays in memory. */
static void io_fail(struct service *s, struct work *w, int error) {
    if (w->reading)
        pages_service_end(s, strerror(-error)); /* the store has logged the page */
    else if (pages_behind_keep_failed(s, w, error))
        io_is_done(s, w);
    else {
        w->stalled = true; /* retried, or kept once there is space */
        s->io.stalled++;
    }
}

static void io_complete(struct service *s, const struct store_done *d) {
    s->io.under_way--;
    if (d->token >= DISK_BEHIND)
        pages_behind_written(s, &s->behind.entries[d->token - DISK_BEHIND], d->error);
    else if (d->error != 0)
        io_fail(s, &s->home.works[d->token], d->error);
    else
        io_is_done(s, &s->home.works[d->token]);
}

/* If an earlier content of the page is still to be written, this one replaces it in its buffer: the two are not written in any
 * order. */
static void io_retry(struct service *s, struct work *w) {
    if (w->reading || !pages_behind_of(s, w->page) || !pages_behind_keep(s, w->page, w->memory)) {
        io_go(s, w);
        return;
    }
    w->stalled = false;
    s->io.stalled--;
    io_is_done(s, w);
}

static void retry_stalled(struct service *s) {
    for (int i = 0; s->io.stalled > 0 && i < SERVICE_WORKS; i++)
        if (s->home.works[i].taken && s->home.works[i].stalled)
            io_retry(s, &s->home.works[i]);
}

unsigned pages_io_poll(struct service *s) {
    struct store_done done[AT_ONCE];
    unsigned all = 0, count;
    for (int i = 0; s->io.under_way > 0 && i < s->stores.locals; i++) {
        if (!s->stores.homes[i].store)
            continue;
        do {
            count = pages_store_poll(s->stores.homes[i].store, done, AT_ONCE);
            for (unsigned k = 0; k < count; k++)
                io_complete(s, &done[k]);
            all += count;
        } while (count == AT_ONCE);
    }
    retry_stalled(s);
    if (s->behind.failed > 0)
        pages_behind_flush(s);
    return all;
}

bool pages_io_is_idle(const struct service *s, int *status) {
    *status = s->behind.failed ? s->behind.error : 0;
    return s->io.under_way == 0 && s->io.stalled == 0 && s->behind.unwritten == s->behind.failed;
}
