/* mapping.c: the mappings of frames in the segment's address range.
 *
 * *Invariant* while the lock is free: the controller of a page considers it mapped if and only if it is MAPPING_FRAME
 * here, and the level in the controller is at least the level here. So a mapping is raised by the holder of a pin, and
 * the pool is informed before the lock is released. It is lowered by the mapper at the controller's request, or without a
 * request if the controller has no request pending.
 *
 * *Areas.* The kernel keeps one area (VMA) for each mapping, and its limit is about 65000. A mapped page is one area,
 * and so is each stretch of unmapped pages in between. We count them and use at most half of the limit. Beyond that,
 * the page that was mapped first is unmapped, even within its minimum residency.
 *
 * *No access, with signals:* an anonymous PROT_NONE mapping, which replaces the frame atomically.
 *
 * *No access, with userfaultfd.* Initially the segment is anonymous memory that is registered for missing pages. If
 * such memory replaced a frame, there would be a moment in which it is not registered yet, and a load at that moment
 * would read zeroes. So the mapping of the frame stays in place:
 *
 *      1. It is registered for pages that are in the file but not in the page table. Pages in the page table remain
 *         accessible, which is correct: the pool has not been informed yet that the page is unmapped.
 *      2. The page table is emptied (MADV_DONTNEED; the frame keeps its content). From now on every access waits for
 *         us, in a system call too.
 *
 * At no moment is anything but the frame accessible. The remaining area is MAPPING_STALE; the next mapping there
 * replaces it atomically. Each stale page is an area of its own, so the oldest of them must be removed at some time as
 * well:
 *
 *      1. An anonymous PROT_NONE mapping replaces it: loads and stores raise a signal, and the handler waits for the lock.
 *      2. That mapping is registered for missing pages.
 *      3. Access is restored.
 *
 * A system call that accesses such a page in between fails with EFAULT. This can happen only when more areas are needed
 * than we may use, and only for the least recently mapped page. It never returns wrong data. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/compiler.h"
#include "base/log.h"
#include "pages/local/local_internal.h"

enum { LOSSES_MOST = 5, AREAS_LEAST = 64, AREAS_USUAL = 65530, POPULATE_BYTES = 65536 };

static char *address_of(const struct local *l, uint32_t page) {
    return l->base + (size_t)page * l->page_bytes;
}

static uint32_t page_of(const struct local *l, uint32_t frame) {
    return l->pool->frames[frame].control.page - l->options.first_page;
}

/* ---- lists and areas ---- */

static void mapping_append(struct local *l, uint32_t page, enum mapping_kind kind) {
    struct mapping_list *list = &l->lists[kind];
    struct mapping *m = &l->mappings[page];
    m->older = list->newest;
    m->newer = 0;
    if (m->older)
        l->mappings[m->older - 1].newer = page + 1;
    else
        list->oldest = page + 1;
    list->newest = page + 1;
    list->count++;
}

static void mapping_take_out(struct local *l, uint32_t page, enum mapping_kind kind) {
    struct mapping_list *list = &l->lists[kind];
    struct mapping *m = &l->mappings[page];
    if (m->older)
        l->mappings[m->older - 1].newer = m->newer;
    else
        list->oldest = m->newer;
    if (m->newer)
        l->mappings[m->newer - 1].older = m->older;
    else
        list->newest = m->older;
    list->count--;
}

/* How many areas are added if this page becomes one of its own: the stretch around it is split in two, is shortened, or
 * consists of this page only. */
static uint32_t areas_for(const struct local *l, uint32_t page) {
    bool before = page > 0 && l->mappings[page - 1].kind == MAPPING_NONE;
    bool after = page + 1 < l->pages && l->mappings[page + 1].kind == MAPPING_NONE;
    return (uint32_t)before + (uint32_t)after;
}

static void become(struct local *l, uint32_t page, enum mapping_kind kind) {
    struct mapping *m = &l->mappings[page];
    enum mapping_kind was = (enum mapping_kind)m->kind;
    if (was != MAPPING_NONE)
        mapping_take_out(l, page, was);
    if (was == MAPPING_NONE && kind != MAPPING_NONE)
        l->areas += areas_for(l, page);
    if (was != MAPPING_NONE && kind == MAPPING_NONE)
        l->areas -= areas_for(l, page);
    m->kind = (uint8_t)kind;
    if (kind != MAPPING_FRAME)
        m->frame = m->level = 0;
    if (kind != MAPPING_NONE)
        mapping_append(l, page, kind);
}

/* ---- system calls ---- */

static bool map_nothing(const struct local *l, char *at) {
    int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return mmap(at, l->page_bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

/* Restores the initial state. */
static bool clear(const struct local *l, char *at) {
    if (!map_nothing(l, at))
        return false;
    return !l->options.userfault || (pages_userfault_watch_missing(l, at, l->page_bytes) == 0 &&
                                     mprotect(at, l->page_bytes, PROT_READ | PROT_WRITE) == 0);
}

/* Keeps the frame mapped, without access to it. */
static bool make_stale(const struct local *l, char *at) {
    return pages_userfault_watch_minor(l, at, l->page_bytes) == 0 &&
           madvise(at, l->page_bytes, MADV_DONTNEED) == 0;
}

/* Must not fail, as other nodes wait for it. The kernel may temporarily lack memory. */
static void take_access(struct local *l, uint32_t page, bool may_be_stale) {
    char *at = address_of(l, page);
    for (bool said = false;; said = true) {
        if (l->options.userfault && may_be_stale && make_stale(l, at)) {
            become(l, page, MAPPING_STALE);
            return;
        }
        if (clear(l, at)) {
            become(l, page, MAPPING_NONE);
            return;
        }
        if (!said)
            pages_local_say("a page of a segment cannot be unmapped, the kernel lacks memory: retrying");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static int map_frame(const struct local *l, uint32_t page, uint32_t frame, enum pages_level level) {
    int protection = level == PAGES_TO_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    char *at = address_of(l, page);
    if (l->mappings[page].kind == MAPPING_FRAME)
        return mprotect(at, l->page_bytes, protection) ? -errno : 0;
    /* The frame's memory exists: a small page is entered into the page table now, not fault by fault. */
    int flags = MAP_FIXED | MAP_SHARED | (l->page_bytes <= POPULATE_BYTES ? MAP_POPULATE : 0);
    off_t offset = (off_t)((uint64_t)frame * l->page_bytes);
    return mmap(at, l->page_bytes, protection, flags, l->pool->file, offset) == MAP_FAILED ? -errno : 0;
}

/* ---- unmapping without a request ---- */

/* Unmaps the page, unless the mapper was asked to: then the mapper reports back. The flags of a mapped copy are 0 unless
 * the mapper was asked. The bucket's lock is held, so that the controller makes no request before it is informed. */
static bool mapping_drop(struct local *l, uint32_t page) {
    struct pages_control *c = &l->pool->frames[l->mappings[page].frame - 1].control;
    struct pool_bucket *b = pages_pool_bucket_of(l->pool, c->home, c->page);
    pages_lock(&b->lock);
    bool may = c->flags == 0;
    if (may) {
        take_access(l, page, false);
        c->mapped = PAGES_UNMAPPED;
    }
    pages_unlock(&b->lock);
    return may;
}

/* Frees an area if possible: first a stale one, then the page that was mapped first. */
static bool mapping_make_room(struct local *l) {
    uint32_t stale = l->lists[MAPPING_STALE].oldest;
    if (stale) {
        take_access(l, stale - 1, false);
        return true;
    }
    for (uint32_t at = l->lists[MAPPING_FRAME].oldest; at; at = l->mappings[at - 1].newer)
        if (mapping_drop(l, at - 1))
            return true;
    return false;
}

uint32_t pages_mapping_drop_all(struct local *l) {
    pages_lock(&l->lock);
    for (uint32_t at = l->lists[MAPPING_FRAME].oldest, newer; at; at = newer) {
        newer = l->mappings[at - 1].newer;
        mapping_drop(l, at - 1);
    }
    uint32_t left = l->lists[MAPPING_FRAME].count;
    pages_unlock(&l->lock);
    return left;
}

/* ---- raising and lowering ---- */

static int map(struct local *l, uint32_t page, uint32_t frame, enum pages_level level) {
    struct mapping *m = &l->mappings[page];
    if (m->kind == MAPPING_NONE)
        while (l->areas + areas_for(l, page) > l->areas_most && mapping_make_room(l))
            continue;
    int err = map_frame(l, page, frame, level);
    while (err == -ENOMEM && mapping_make_room(l)) /* the program has mappings of its own */
        err = map_frame(l, page, frame, level);
    if (err)
        return err;
    if (m->kind != MAPPING_FRAME)
        become(l, page, MAPPING_FRAME);
    m->frame = frame + 1;
    m->level = (uint8_t)level;
    pages_pool_mapped(l->pool, frame, level);
    return 0;
}

int pages_mapping_raise(struct local *l, uint32_t page, uint32_t frame, enum pages_level level) {
    struct mapping *m = &l->mappings[page];
    int err = 0;
    pages_lock(&l->lock);
    ASSERT(m->kind != MAPPING_FRAME || m->frame == frame + 1);
    if (m->level < level) /* otherwise another thread was here first */
        err = map(l, page, frame, level);
    pages_unlock(&l->lock);
    return err;
}

/* Protecting may need areas that are not available; unmapping is always correct. */
static enum pages_level mapping_lower_page(struct local *l, uint32_t page, enum pages_level level) {
    struct mapping *m = &l->mappings[page];
    ASSERT(m->kind == MAPPING_FRAME);
    if (level == PAGES_TO_READ && !l->options.userfault) {
        if (m->level <= level || !mprotect(address_of(l, page), l->page_bytes, PROT_READ)) {
            m->level = PAGES_TO_READ;
            return PAGES_TO_READ;
        }
    }
    take_access(l, page, true);
    return PAGES_UNMAPPED;
}

void pages_mapping_lower(struct local *l, uint32_t frame, enum pages_level level) {
    pages_lock(&l->lock);
    enum pages_level is = mapping_lower_page(l, page_of(l, frame), level);
    pages_pool_lowered(l->pool, frame, is);
    pages_unlock(&l->lock);
}

/* ---- minimum residency ---- */

/* Anti-thrashing: an early loss shows that both sides need the page. Lengthening the residency after each early loss
 * lets both make progress. */
void pages_mapping_note_loss(struct local *l, uint32_t frame, bool early) {
    struct mapping *m = &l->mappings[page_of(l, frame)];
    uint8_t losses = __atomic_load_n(&m->losses, __ATOMIC_RELAXED);
    uint8_t now = early ? (uint8_t)(losses + (losses < LOSSES_MOST)) : 0;
    if (now != losses)
        __atomic_store_n(&m->losses, now, __ATOMIC_RELAXED);
}

uint64_t pages_mapping_stay_ns(const struct local *l, uint32_t page) {
    return l->options.stay_ns << __atomic_load_n(&l->mappings[page].losses, __ATOMIC_RELAXED);
}

/* ---- open and close ---- */

static uint32_t areas_of_kernel(void) {
    unsigned long most = AREAS_USUAL;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file) {
        if (fscanf(file, "%lu", &most) != 1)
            most = AREAS_USUAL;
        fclose(file);
    }
    return most > INT32_MAX ? INT32_MAX : (uint32_t)most;
}

int pages_mapping_open(struct local *l) {
    size_t bytes = round_up(l->pages * sizeof(struct mapping), 4096);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) {
        log_error("segment: no %zu bytes for the table of its %u pages: %s", bytes, l->pages,
                  strerror(errno));
        return -ENOMEM;
    }
    l->mappings = memory;
    l->areas = 1;
    pages_mapping_limit(l, areas_of_kernel() / 2);
    return 0;
}

void pages_mapping_close(struct local *l) {
    if (l->mappings)
        munmap(l->mappings, round_up(l->pages * sizeof(struct mapping), 4096));
    l->mappings = NULL;
}

void pages_mapping_limit(struct local *l, uint32_t areas) {
    pages_lock(&l->lock);
    l->areas_most = areas < AREAS_LEAST ? AREAS_LEAST : areas;
    pages_unlock(&l->lock);
}

/* ---- checking ---- */

static void mapping_must(bool holds) {
    if (!holds)
        abort();
}

static void mapping_check_list(const struct local *l, enum mapping_kind kind) {
    uint32_t before = 0, length = 0;
    for (uint32_t at = l->lists[kind].oldest; at; before = at, at = l->mappings[at - 1].newer, length++) {
        const struct mapping *m = &l->mappings[at - 1];
        mapping_must(length < l->pages && m->kind == kind && m->older == before);
        mapping_must((kind == MAPPING_FRAME) == (m->frame != 0) &&
                     (kind == MAPPING_FRAME) == (m->level != PAGES_UNMAPPED));
        if (kind == MAPPING_FRAME) {
            const struct pages_control *c = &l->pool->frames[m->frame - 1].control;
            mapping_must(c->page == l->options.first_page + at - 1 && c->home == l->options.home &&
                         c->mapped >= m->level);
        }
    }
    mapping_must(l->lists[kind].newest == before && l->lists[kind].count == length);
}

void pages_mapping_check(struct local *l) {
    uint32_t areas = 0, listed = 0;
    bool stretch = false;
    pages_lock(&l->lock);
    mapping_check_list(l, MAPPING_FRAME);
    mapping_check_list(l, MAPPING_STALE);
    for (uint32_t page = 0; page < l->pages; page++) {
        bool none = l->mappings[page].kind == MAPPING_NONE;
        areas += !none || !stretch;
        stretch = none;
        listed += !none;
    }
    mapping_must(areas == l->areas &&
                 listed == l->lists[MAPPING_FRAME].count + l->lists[MAPPING_STALE].count);
    pages_unlock(&l->lock);
}
