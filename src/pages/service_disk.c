/* Reads and writes of the NVM, for the transactions of the home.
 *
 * Not all of them are: a page that was never written is zero; one that this node holds itself (only where nodes do not
 * give each other pages) is copied from its frame; and with HEARTH_WRITE_BACK=dram a page that came home is only in
 * memory for a while (`behind`), and is read from there.
 *
 * A page for this node's own pool is read straight into its frame, and one that leaves it is written from there. */
#include <errno.h>
#include <string.h>

#include "pages/service.h"

enum {
    BEHIND = 1 << 16 /* tokens of the store: works, and from here on pages that are behind */,
    AT_ONCE = 32
};

static struct service_homes *home_of(struct service *s, uint32_t page) {
    struct service_homes *h = s->homes;
    while (page >= h->first + h->pages)
        h++;
    return h;
}

static int submit(struct service *s, enum store_way way, uint32_t page, char *memory, uint64_t token) {
    struct service_homes *h = home_of(s, page);
    int status = store_submit(h->store, way, page - h->first, memory, token);
    if (status == 0) {
        s->ios++;
        pool_count(way == STORE_READ ? &s->pool->shared->counts.nvm_reads
                                     : &s->pool->shared->counts.nvm_writes);
    } else if (status != -EAGAIN && status != -EBUSY) {
        service_fail(s, "page %u of this node cannot be %s: %s", page, way == STORE_READ ? "read" : "written",
                     strerror(-status));
    }
    return status;
}

static void go(struct service *s, struct work *w) {
    int status =
        submit(s, w->reading ? STORE_READ : STORE_WRITE, w->page, w->memory, (uint64_t)(w - s->works));
    bool stalled = status == -EAGAIN || status == -EBUSY;
    if (stalled != w->stalled)
        s->stalled += stalled ? 1 : UINT32_MAX;
    w->stalled = stalled;
}

/* ---- pages that are not on the NVM yet ---- */

static struct behind *behind_of(struct service *s, uint32_t page) {
    if (s->unwritten == 0)
        return NULL;
    for (int i = 0; i < SERVICE_WORKS; i++)
        if (s->behind[i].page == page + 1)
            return &s->behind[i];
    return NULL;
}

static void write_behind(struct service *s, struct behind *b) {
    if (!b->dirty || b->writing ||
        submit(s, STORE_WRITE, b->page - 1, b->buffer, BEHIND + (uint64_t)(b - s->behind)) != 0)
        return;
    b->dirty = false;
    b->writing = true;
}

/* Keeps the page here instead of writing it, if there is room. What is being written is overwritten: it is written once
 * more after that. */
static bool keep_behind(struct service *s, uint32_t page, const char *memory) {
    struct behind *b = behind_of(s, page);
    for (int i = 0; !b && i < SERVICE_WORKS; i++)
        if (s->behind[i].page == 0) {
            b = &s->behind[i];
            s->unwritten++;
        }
    if (!b)
        return false;
    b->page = page + 1;
    b->dirty = true;
    memcpy(b->buffer, memory, s->pool->page_bytes);
    if (s->unwritten > SERVICE_WORKS / 2)
        disk_flush(s);
    return true;
}

static void written_behind(struct service *s, struct behind *b) {
    b->writing = false;
    if (b->dirty)
        return;
    b->page = 0;
    s->unwritten--;
}

void disk_flush(struct service *s) {
    for (int i = 0; s->unwritten > 0 && i < SERVICE_WORKS; i++)
        if (s->behind[i].page)
            write_behind(s, &s->behind[i]);
}

int disk_reserve_page(struct service *s, uint32_t page) {
    struct service_homes *h = home_of(s, page);
    return store_reserve(h->store, page - h->first);
}

int disk_reserve_behind(struct service *s) {
    int status = 0;
    for (int i = 0; status == 0 && s->unwritten > 0 && i < SERVICE_WORKS; i++)
        if (s->behind[i].page && s->behind[i].dirty)
            status = disk_reserve_page(s, s->behind[i].page - 1);
    return status;
}

/* ---- reading ---- */

static int64_t frame_asked_for(struct service *s, uint32_t page) {
    struct pool_bucket *b = pool_bucket_of(s->pool, s->self, page);
    pages_lock(&b->lock);
    struct pool_frame *f = pool_find(s->pool, b, s->self, page);
    int64_t frame = f ? (int64_t)pool_frame_of(s->pool, f) : POOL_NO_FRAME;
    pages_unlock(&b->lock);
    return frame;
}

/* From memory, if it is there. */
static bool copy(struct service *s, struct work *w) {
    const struct behind *b = behind_of(s, w->page);
    int64_t frame = POOL_NO_FRAME;
    if (b)
        memcpy(w->memory, b->buffer, s->pool->page_bytes);
    else if (!s->coop && (frame = pool_try_pin(s->pool, s->self, w->page, false)) >= 0) {
        memcpy(w->memory, pool_memory(s->pool, (uint32_t)frame), s->pool->page_bytes);
        pool_unpin(s->pool, (uint32_t)frame, false);
    }
    return b || frame >= 0;
}

static bool is_hole(struct service *s, uint32_t page) {
    struct service_homes *h = home_of(s, page);
    return store_is_hole(h->store, page - h->first);
}

/* Whether it is there at once. */
static bool read_page(struct service *s, struct work *w) {
    w->reading = true;
    if (copy(s, w))
        return true;
    if (is_hole(s, w->page)) {
        pool_count(&s->pool->shared->counts.nvm_holes);
        w->zero = true;
        return true;
    }
    go(s, w);
    return false;
}

static bool write_page(struct service *s, struct work *w) {
    w->reading = false;
    if (s->write_behind && keep_behind(s, w->page, w->memory))
        return true;
    go(s, w);
    return false;
}

/* ---- I/O of a transaction ---- */

/* The page is in the buffer, or zero: the operation is applied, and the page written if it has changed. */
static void apply(struct service *s, struct work *w) {
    if (w->zero)
        memset(w->memory, 0, s->pool->page_bytes);
    w->zero = w->applying = false;
    small_apply(w->memory, parcel_of(s, (uint32_t)w->parcel - 1), w->dirty);
    if (!w->dirty || write_page(s, w))
        home_finished(s, w);
}

static void io_is_done(struct service *s, struct work *w) {
    if (w->applying)
        apply(s, w);
    else
        home_finished(s, w);
}

void disk_begin(struct service *s, struct work *w, enum pages_io io, uint64_t parcel, uint16_t requester) {
    if (io == PAGES_WRITE) {
        if (write_page(s, w))
            home_finished(s, w);
        return;
    }
    w->zero = false;
    w->memory = w->buffer;
    w->frame = io == PAGES_READ && requester == s->self ? frame_asked_for(s, w->page) : POOL_NO_FRAME;
    if (w->frame >= 0)
        w->memory = pool_memory(s->pool, (uint32_t)w->frame);
    w->applying = io == PAGES_APPLY;
    w->parcel = parcel;
    w->dirty = w->applying && pages_directory_writes(s->directory, w->page);
    if (read_page(s, w))
        io_is_done(s, w);
}

/* ---- completions ---- */

static void complete(struct service *s, const struct store_done *d) {
    bool behind = d->token >= BEHIND;
    s->ios--;
    if (d->error != 0)
        service_end(s, strerror(-d->error)); /* the store has said of which page */
    else if (behind)
        written_behind(s, &s->behind[d->token - BEHIND]);
    else
        io_is_done(s, &s->works[d->token]);
}

static void retry_stalled(struct service *s) {
    for (int i = 0; s->stalled > 0 && i < SERVICE_WORKS; i++)
        if (s->works[i].taken && s->works[i].stalled)
            go(s, &s->works[i]);
}

unsigned disk_poll(struct service *s) {
    struct store_done done[AT_ONCE];
    unsigned all = 0, count;
    for (int i = 0; s->ios > 0 && i < s->locals; i++) {
        if (!s->homes[i].store)
            continue;
        do {
            count = store_poll(s->homes[i].store, done, AT_ONCE);
            for (unsigned k = 0; k < count; k++)
                complete(s, &done[k]);
            all += count;
        } while (count == AT_ONCE);
    }
    retry_stalled(s);
    return all;
}

bool disk_is_idle(const struct service *s) {
    return s->ios == 0 && s->stalled == 0 && s->unwritten == 0;
}
