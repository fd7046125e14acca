/* service_behind.c: pages of the home that are in memory only.
 *
 * With HEARTH_WRITE_BACK=dram, a page that returns to the home is kept in a buffer and written from there while the
 * next transaction proceeds. A page that the disk rejects, because it is full or fails, is kept in the same way: in a
 * buffer, in the frame that it came from, or in a frame borrowed from the pool. Reads and modifications use that
 * memory. The write is retried once a second and when a checkpoint is made; the checkpoint fails until all such pages
 * are written. The job ends when the remaining frames are no more than its ranks need. */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "pages/service/service.h"

enum { RETRY_NS = 1000000000 };

struct behind *pages_behind_of(struct service *s, uint32_t page) {
    for (uint32_t i = 0; s->behind.unwritten > 0 && i < s->behind.end; i++)
        if (s->behind.entries[i].page == page + 1)
            return &s->behind.entries[i];
    return NULL;
}

/* ---- entries ---- */

/* An entry with a buffer of its own, or one without; NULL: all are in use. */
static struct behind *find_free(struct service *s, bool buffered) {
    uint32_t end = buffered ? s->home.works_most : s->behind.most;
    for (uint32_t i = buffered ? 0 : SERVICE_WORKS; i < end; i++)
        if (s->behind.entries[i].page == 0)
            return &s->behind.entries[i];
    return NULL;
}

static void behind_take_place(struct service *s, struct behind *b, uint32_t page, int64_t frame) {
    uint32_t index = (uint32_t)(b - s->behind.entries);
    b->page = page + 1;
    b->frame = frame;
    if (frame >= 0) {
        b->buffer = pages_pool_memory(s->pool, (uint32_t)frame);
        s->behind.frames_taken++;
    }
    s->behind.end = index >= s->behind.end ? index + 1 : s->behind.end;
    s->behind.unwritten++;
}

static void give_place(struct service *s, struct behind *b) {
    b->page = 0;
    s->behind.unwritten--;
    if (b->frame >= 0) {
        s->behind.frames_taken--;
        pages_cache_left(s, (uint32_t)b->frame);
    }
    while (s->behind.end > 0 && s->behind.entries[s->behind.end - 1].page == 0)
        s->behind.end--;
}

/* ---- writing ---- */

static void write_behind(struct service *s, struct behind *b) {
    if (!b->dirty || b->writing || b->failed ||
        pages_io_submit(s, STORE_WRITE, b->page - 1, b->buffer,
                        DISK_BEHIND + (uint64_t)(b - s->behind.entries)) != 0)
        return;
    log_trace(LOG_PAGES, "page %u is written back, one of %u that wait", b->page - 1, s->behind.unwritten);
    b->dirty = false;
    b->writing = true;
}

/* The buffer of a write that is under way does not change: the NVM would hold parts of both, and a checksum of neither. */
bool pages_behind_keep(struct service *s, uint32_t page, const char *memory) {
    struct behind *b = pages_behind_of(s, page);
    if (b && b->writing)
        return false;
    if (!b && (b = find_free(s, true)) != NULL)
        behind_take_place(s, b, page, POOL_NO_FRAME);
    if (!b)
        return false;
    b->dirty = true;
    memcpy(b->buffer, memory, s->pool->page_bytes);
    if (s->behind.unwritten > s->home.works_most / 2)
        pages_behind_flush(s);
    return true;
}

static void mark_failed(struct service *s, struct behind *b, int error) {
    log_debug(LOG_PAGES, "page %u could not be written: %s; it is kept and tried again", b->page - 1,
              strerror(-error));
    b->dirty = b->failed = true;
    s->behind.failed++;
    s->behind.error = error;
}

void pages_behind_written(struct service *s, struct behind *b, int error) {
    b->writing = false;
    if (error != 0)
        mark_failed(s, b, error);
    else if (!b->dirty)
        give_place(s, b);
}

void pages_behind_retry(struct service *s) {
    for (uint32_t i = 0; s->behind.failed > 0 && i < s->behind.end; i++)
        if (s->behind.entries[i].page && s->behind.entries[i].failed) {
            s->behind.entries[i].failed = false;
            s->behind.failed--;
        }
    s->behind.retried = clock_ns();
}

void pages_behind_flush(struct service *s) {
    if (s->behind.failed > 0 && clock_ns() - s->behind.retried > RETRY_NS)
        pages_behind_retry(s);
    for (uint32_t i = 0; s->behind.unwritten > s->behind.failed && i < s->behind.end; i++)
        if (s->behind.entries[i].page)
            write_behind(s, &s->behind.entries[i]);
}

/* ---- pages that the disk rejects ---- */

static bool may_take_frame(struct service *s, uint32_t page, int error) {
    uint32_t frames = s->pool->shared->frames, needed = pages_pool_least_frames(s->stores.locals);
    if (s->behind.frames_taken + needed < frames)
        return true;
    pages_io_fail_full(s, page, error);
    return false;
}

/* The frame that the page came from, which stays unchanged meanwhile, or a borrowed one. */
static int64_t behind_take_frame(struct service *s, struct work *w) {
    if (!w->holds) {
        int64_t frame = pages_pool_borrow(s->pool);
        if (frame >= 0)
            memcpy(pages_pool_memory(s->pool, (uint32_t)frame), w->memory, s->pool->page_bytes);
        return frame;
    }
    struct pool_frame *f = &s->pool->frames[w->frame];
    f->sends++;       /* in addition to the work's own */
    if (f->leaving) { /* it will not be free soon: another frame has to be freed */
        f->leaving = false;
        s->leaving--;
    }
    return w->frame;
}

bool pages_behind_keep_failed(struct service *s, struct work *w, int error) {
    struct behind *b = find_free(s, true);
    int64_t frame = POOL_NO_FRAME;
    if (!b) {
        b = may_take_frame(s, w->page, error) ? find_free(s, false) : NULL;
        frame = b ? behind_take_frame(s, w) : POOL_NO_FRAME;
        if (frame < 0)
            return false;
    }
    behind_take_place(s, b, w->page, frame);
    if (frame < 0)
        memcpy(b->buffer, w->memory, s->pool->page_bytes);
    mark_failed(s, b, error);
    return true;
}
