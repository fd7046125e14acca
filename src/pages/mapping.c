/* mapping.c: which frames are mapped at which addresses of the segment.
 *
 * *What holds*, whenever the lock is free: the controller of a page thinks that it is mapped if and only if
 * it is MAPPING_FRAME here, and no lower than it is. So a mapping is raised by who has a pin, and the pool is
 * told before the lock is given back; it is lowered by the mapper, whom the controller has asked, or without
 * being asked, if the controller has nobody asked either.
 *
 * *Areas.* The kernel keeps one area for each mapping, and has room for some 65000. A page that is mapped is
 * one, and so is each stretch of pages in between that are not. We count them, and have half of what there
 * is: beyond, the page that was mapped first is taken back, whether or not it has stayed long enough.
 *
 * *Without access*, by signals: a mapping of nothing, with PROT_NONE, which replaces the frame in one step.
 *
 * *Without access, by userfaultfd.* At the beginning the segment is anonymous memory that is watched for
 * missing pages. If we put such memory over a frame, there would be a moment in which it is not watched yet,
 * and a load at this moment would find zeroes. So the mapping of the frame stays where it is:
 *
 *      1. it is watched for pages that are in the file but not in the page table. Those in the page table can
 *         still be used, and rightly so: nobody has been told that the page is unmapped;
 *      2. the page table is emptied (MADV_DONTNEED; the frame keeps what it holds). Now whatever is touched
 *         waits for us, in a system call too.
 *
 * At no moment is there access to anything but the frame. The area that is left over is MAPPING_STALE; what
 * is mapped there next replaces it, in one step. Each is an area of its own, so that the oldest of them must
 * go at some time as well:
 *
 *      1. a mapping of nothing with PROT_NONE over it: loads and stores are signalled, and the handler waits
 *         for the lock;
 *      2. that is watched for missing pages;
 *      3. and gets its access back.
 *
 * A system call that comes to such a page in between fails with EFAULT: only where more areas
 * are wanted than we may have, only with the page whose turn was the longest ago;
 * it never gets wrong data. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/base.h"
#include "pages/local_inside.h"

enum { LOSSES_MOST = 5, AREAS_LEAST = 64, AREAS_USUAL = 65530, POPULATE_BYTES = 65536 };

static char *address_of(const struct local *l, uint32_t page) {
    return l->base + (size_t)page * l->page_bytes;
}

static uint32_t page_of(const struct local *l, uint32_t frame) {
    return l->pool->frames[frame].control.page - l->options.first_page;
}

/* ---- the lists and the areas ---- */

static void append(struct local *l, uint32_t page, enum mapping_kind kind) {
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

static void take_out(struct local *l, uint32_t page, enum mapping_kind kind) {
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

/* How many areas more there are if this page becomes one of its own: the stretch that it lies in is split in
 * two, is made shorter, or is nothing but this page. */
static uint32_t areas_for(const struct local *l, uint32_t page) {
    bool before = page > 0 && l->mappings[page - 1].kind == MAPPING_NONE;
    bool after = page + 1 < l->pages && l->mappings[page + 1].kind == MAPPING_NONE;
    return (uint32_t)before + (uint32_t)after;
}

static void become(struct local *l, uint32_t page, enum mapping_kind kind) {
    struct mapping *m = &l->mappings[page];
    enum mapping_kind was = (enum mapping_kind)m->kind;
    if (was != MAPPING_NONE)
        take_out(l, page, was);
    if (was == MAPPING_NONE && kind != MAPPING_NONE)
        l->areas += areas_for(l, page);
    if (was != MAPPING_NONE && kind == MAPPING_NONE)
        l->areas -= areas_for(l, page);
    m->kind = (uint8_t)kind;
    if (kind != MAPPING_FRAME)
        m->frame = m->level = 0;
    if (kind != MAPPING_NONE)
        append(l, page, kind);
}

/* ---- the kernel ---- */

static bool map_nothing(const struct local *l, char *at) {
    int flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return mmap(at, l->page_bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

/* As at the beginning. */
static bool clear(const struct local *l, char *at) {
    if (!map_nothing(l, at))
        return false;
    return !l->options.userfault || (userfault_watch_missing(l, at, l->page_bytes) == 0 &&
                                     mprotect(at, l->page_bytes, PROT_READ | PROT_WRITE) == 0);
}

/* The frame, without access to it. */
static bool make_stale(const struct local *l, char *at) {
    return userfault_watch_minor(l, at, l->page_bytes) == 0 && madvise(at, l->page_bytes, MADV_DONTNEED) == 0;
}

/* Must not fail, as others wait for it. What can be lacking is memory of the kernel's, for a while. */
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
            local_say("a page of a segment cannot be unmapped, the kernel lacks memory: it is tried again");
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static int map_frame(const struct local *l, uint32_t page, uint32_t frame, enum pages_level level) {
    int protection = level == PAGES_TO_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    char *at = address_of(l, page);
    if (l->mappings[page].kind == MAPPING_FRAME)
        return mprotect(at, l->page_bytes, protection) ? -errno : 0;
    /* Its memory is there: a small page is entered into the page table at once, not fault by fault. */
    int flags = MAP_FIXED | MAP_SHARED | (l->page_bytes <= POPULATE_BYTES ? MAP_POPULATE : 0);
    off_t offset = (off_t)((uint64_t)frame * l->page_bytes);
    return mmap(at, l->page_bytes, protection, flags, l->pool->file, offset) == MAP_FAILED ? -errno : 0;
}

/* ---- taking back unasked ---- */

/* Not if the mapper was asked for it: then it will say that it is done. A copy that is mapped has no other
 * flags. The bucket's lock is held meanwhile, so that nobody is asked before the controller knows. */
static bool drop(struct local *l, uint32_t page) {
    struct pages_control *c = &l->pool->frames[l->mappings[page].frame - 1].control;
    struct pool_bucket *b = pool_bucket_of(l->pool, c->home, c->page);
    pages_lock(&b->lock);
    bool may = c->flags == 0;
    if (may) {
        take_access(l, page, false);
        c->mapped = PAGES_UNMAPPED;
    }
    pages_unlock(&b->lock);
    return may;
}

/* Some area less, if that is possible: what nobody uses, then what was mapped first. */
static bool make_room(struct local *l) {
    uint32_t stale = l->lists[MAPPING_STALE].oldest;
    if (stale) {
        take_access(l, stale - 1, false);
        return true;
    }
    for (uint32_t at = l->lists[MAPPING_FRAME].oldest; at; at = l->mappings[at - 1].newer)
        if (drop(l, at - 1))
            return true;
    return false;
}

uint32_t mapping_drop_all(struct local *l) {
    pages_lock(&l->lock);
    for (uint32_t at = l->lists[MAPPING_FRAME].oldest, newer; at; at = newer) {
        newer = l->mappings[at - 1].newer;
        drop(l, at - 1);
    }
    uint32_t left = l->lists[MAPPING_FRAME].count;
    pages_unlock(&l->lock);
    return left;
}

/* ---- raising and lowering ---- */

static int map(struct local *l, uint32_t page, uint32_t frame, enum pages_level level) {
    struct mapping *m = &l->mappings[page];
    if (m->kind == MAPPING_NONE)
        while (l->areas + areas_for(l, page) > l->areas_most && make_room(l))
            continue;
    int err = map_frame(l, page, frame, level);
    while (err == -ENOMEM && make_room(l)) /* the program has mappings of its own */
        err = map_frame(l, page, frame, level);
    if (err)
        return err;
    if (m->kind != MAPPING_FRAME)
        become(l, page, MAPPING_FRAME);
    m->frame = frame + 1;
    m->level = (uint8_t)level;
    pool_mapped(l->pool, frame, level);
    return 0;
}

int mapping_raise(struct local *l, uint32_t page, uint32_t frame, enum pages_level level) {
    struct mapping *m = &l->mappings[page];
    int err = 0;
    pages_lock(&l->lock);
    assert(m->kind != MAPPING_FRAME || m->frame == frame + 1);
    if (m->level < level) /* else another thread was here first */
        err = map(l, page, frame, level);
    pages_unlock(&l->lock);
    return err;
}

/* Protecting may need areas that are not there; to take it back altogether is never wrong. */
static enum pages_level lower(struct local *l, uint32_t page, enum pages_level level) {
    struct mapping *m = &l->mappings[page];
    assert(m->kind == MAPPING_FRAME);
    if (level == PAGES_TO_READ && !l->options.userfault) {
        if (m->level <= level || !mprotect(address_of(l, page), l->page_bytes, PROT_READ)) {
            m->level = PAGES_TO_READ;
            return PAGES_TO_READ;
        }
    }
    take_access(l, page, true);
    return PAGES_UNMAPPED;
}

void mapping_lower(struct local *l, uint32_t frame, enum pages_level level) {
    pages_lock(&l->lock);
    enum pages_level is = lower(l, page_of(l, frame), level);
    pool_lowered(l->pool, frame, is);
    pages_unlock(&l->lock);
}

/* ---- staying ---- */

/* Others who want it before its time is over want it badly, and so do we, who get it back each time: ever
 * longer turns let both get on. */
void mapping_note_loss(struct local *l, uint32_t frame, bool early) {
    struct mapping *m = &l->mappings[page_of(l, frame)];
    uint8_t losses = __atomic_load_n(&m->losses, __ATOMIC_RELAXED);
    uint8_t now = early ? (uint8_t)(losses + (losses < LOSSES_MOST)) : 0;
    if (now != losses)
        __atomic_store_n(&m->losses, now, __ATOMIC_RELAXED);
}

uint64_t mapping_stay_ns(const struct local *l, uint32_t page) {
    return l->options.stay_ns << __atomic_load_n(&l->mappings[page].losses, __ATOMIC_RELAXED);
}

/* ---- beginning and end ---- */

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

int mapping_open(struct local *l) {
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
    mapping_limit(l, areas_of_kernel() / 2);
    return 0;
}

void mapping_close(struct local *l) {
    if (l->mappings)
        munmap(l->mappings, round_up(l->pages * sizeof(struct mapping), 4096));
    l->mappings = NULL;
}

void mapping_limit(struct local *l, uint32_t areas) {
    pages_lock(&l->lock);
    l->areas_most = areas < AREAS_LEAST ? AREAS_LEAST : areas;
    pages_unlock(&l->lock);
}

/* ---- checking ---- */

static void must(bool holds) {
    if (!holds)
        abort();
}

static void check_list(const struct local *l, enum mapping_kind kind) {
    uint32_t before = 0, count = 0;
    for (uint32_t at = l->lists[kind].oldest; at; before = at, at = l->mappings[at - 1].newer, count++) {
        const struct mapping *m = &l->mappings[at - 1];
        must(count < l->pages && m->kind == kind && m->older == before);
        must((kind == MAPPING_FRAME) == (m->frame != 0) &&
             (kind == MAPPING_FRAME) == (m->level != PAGES_UNMAPPED));
        if (kind == MAPPING_FRAME) {
            const struct pages_control *c = &l->pool->frames[m->frame - 1].control;
            must(c->page == l->options.first_page + at - 1 && c->home == l->options.home &&
                 c->mapped >= m->level);
        }
    }
    must(l->lists[kind].newest == before && l->lists[kind].count == count);
}

void mapping_check(struct local *l) {
    uint32_t areas = 0, listed = 0;
    bool stretch = false;
    pages_lock(&l->lock);
    check_list(l, MAPPING_FRAME);
    check_list(l, MAPPING_STALE);
    for (uint32_t page = 0; page < l->pages; page++) {
        bool none = l->mappings[page].kind == MAPPING_NONE;
        areas += !none || !stretch;
        stretch = none;
        listed += !none;
    }
    must(areas == l->areas && listed == l->lists[MAPPING_FRAME].count + l->lists[MAPPING_STALE].count);
    pages_unlock(&l->lock);
}
