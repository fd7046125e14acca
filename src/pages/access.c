/* access.c: gets and puts on segments, page by page, from the node's pool if the page is there.
 *
 *      hit       pin, copy, unpin
 *      miss      large piece: the page is fetched, with the following ones if they will be needed
 *                small piece: a remote operation, until the page is cheaper to fetch (fetch_policy.h)
 *
 * An update of a word is a small put with a result. It is executed on the frame of a page that this node may write, or
 * by the service of the node that may: in both cases by the processor's atomic instructions on the only copy.
 *
 * A pin covers a copy and nothing that waits. Local memory in the caller's own segment may fault, and is copied through
 * a bounce buffer on the stack. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "pages/pages_internal.h"
#include "pages/small.h"

enum {
    BOUNCE = 16384,
    DRIVE_NS = 1000000 /* for which an operation on many pages keeps the progress lock */
};

/* The part of an operation that lies in one page. */
struct piece {
    int rank;
    uint16_t home;
    uint32_t page;
    uint64_t at; /* in the segment */
    size_t in, bytes;
};

/* The first piece of the `bytes` bytes at `at`. */
static inline struct piece access_piece_at(const struct pages *p, int rank, uint64_t at, size_t bytes) {
    const struct pages_segment *s = &p->segments[rank];
    size_t page_bytes = (size_t)1 << p->shift, in = at & (page_bytes - 1), rest = page_bytes - in;
    return (struct piece){.rank = rank,
                          .home = s->home,
                          .page = s->first + (uint32_t)(at >> p->shift),
                          .at = at,
                          .in = in,
                          .bytes = bytes < rest ? bytes : rest};
}

static inline uint64_t access_offset_of(const struct pages *p, int rank, const void *address) {
    return (uint64_t)(uintptr_t)address - p->segments[rank].base;
}

static inline bool access_is_own(const struct pages *p, const void *address) {
    return (uint64_t)(uintptr_t)address - p->base < p->bytes;
}

/* ---- operations ---- */

enum way { GET, PUT, SET, UPDATE };

struct job {
    enum way way;
    void *to; /* of an update: for the previous value, or NULL */
    const void *from;
    const struct pages_update *update;
    int value;
};

static __attribute__((noinline)) void access_update(const struct pages *p, const struct job *j, char *word) {
    uint64_t old = p->events.update(word, j->update);
    if (j->to)
        memcpy(j->to, &old, j->update->bytes);
}

static void access_copy(const struct pages *p, const struct job *j, char *memory, size_t bytes) {
    if (j->way == GET)
        memcpy(j->to, memory, bytes);
    else if (j->way == PUT)
        memcpy(memory, j->from, bytes);
    else if (j->way == SET)
        memset(memory, j->value, bytes);
    else
        access_update(p, j, memory);
}

static struct job step(struct job j, size_t bytes) {
    if (j.way == GET)
        j.to = (char *)j.to + bytes;
    else if (j.way == PUT)
        j.from = (const char *)j.from + bytes;
    return j;
}

/* ---- read-ahead ---- */

static void access_prefetch(struct pages *p, const struct pages_segment *s, uint32_t page) {
    if (page >= s->first && page - s->first < (s->bytes + (((uint64_t)1 << p->shift) - 1)) >> p->shift &&
        pages_pool_prefetch(&p->pool, s->home, page))
        pages_pool_count(&p->tally.prefetched);
}

static void access_walk_on(struct pages *p, const struct piece *x) {
    struct ahead_pages a = pages_ahead_after(&p->ahead, x->home, x->page, p->ahead_most);
    for (uint32_t i = 0; i < a.count; i++)
        access_prefetch(p, &p->segments[x->rank], a.first + (uint32_t)((int32_t)i * a.step));
}

/* Whether the operation of `bytes` bytes from x on writes all of the page i after that of x: then it is not read. */
static bool is_overwritten(const struct pages *p, const struct piece *x, enum way way, size_t bytes,
                           uint32_t i) {
    return way != GET && (i > 0 || x->in == 0) && x->in + bytes >= (size_t)(i + 1) << p->shift;
}

/* Requests the pages of an operation. Requests leave in this order, so the first page is among them if it will be
 * fetched for reading. */
static void access_fetch_all(struct pages *p, const struct piece *x, const struct job *j, size_t bytes) {
    uint32_t pages = (uint32_t)((x->in + bytes - 1) >> p->shift);
    bool first = pages > 0 && p->ahead_most > 0 && j->way == GET && x->bytes > p->small;
    for (uint32_t i = first ? 0 : 1; i <= pages && i <= p->ahead_most; i++)
        if (!is_overwritten(p, x, j->way, bytes, i))
            access_prefetch(p, &p->segments[x->rank], x->page + i);
}

/* ---- one piece ---- */

static bool try_piece(struct pages *p, const struct piece *x, const struct job *j) {
    bool write = j->way != GET;
    int64_t frame = pages_pool_try_pin(&p->pool, x->home, x->page, write);
    if (UNLIKELY(frame < 0))
        return false;
    bool fresh = pages_pool_is_fresh(&p->pool, (uint32_t)frame);
    access_copy(p, j, pages_pool_memory(&p->pool, (uint32_t)frame) + x->in, x->bytes);
    pages_pool_unpin(&p->pool, (uint32_t)frame, write);
    if (UNLIKELY(fresh))
        access_walk_on(p, x);
    pages_pool_count(&p->tally.hits);
    return true;
}

/* A page that is written whole is not read, nor are the pages after it prefetched. */
static uint32_t access_pin(struct pages *p, const struct piece *x, bool write) {
    bool ourselves = p->serves && pages_progress_try_lock(&p->service);
    bool whole = write && x->bytes >> p->shift == 1;
    if (!whole)
        access_walk_on(p, x);
    uint32_t frame = whole ? pages_pool_pin_to_overwrite(&p->pool, x->home, x->page)
                           : pages_pool_pin(&p->pool, x->home, x->page, write);
    if (ourselves)
        pages_progress_unlock(&p->service);
    return frame;
}

static void fetch_piece(struct pages *p, const struct piece *x, const struct job *j) {
    bool write = j->way != GET;
    uint32_t frame = access_pin(p, x, write);
    pages_pool_is_fresh(&p->pool, frame);
    access_copy(p, j, pages_pool_memory(&p->pool, frame) + x->in, x->bytes);
    pages_pool_unpin(&p->pool, frame, write);
    pages_pool_count(&p->tally.misses);
}

/* The bytes that a remote operation sends or receives. */
static size_t small_bytes(const struct piece *x, enum way way) {
    return way == UPDATE ? sizeof(struct pages_update) : x->bytes;
}

static struct small_operation small_of(const struct piece *x, const struct job *j) {
    return (struct small_operation){.home = x->home,
                                    .page = x->page,
                                    .offset = (uint32_t)x->in,
                                    .bytes = (uint16_t)small_bytes(x, j->way),
                                    .writes = j->way != GET,
                                    .updates = j->way == UPDATE,
                                    .to = j->to,
                                    .from = j->way == PUT      ? j->from
                                            : j->way == UPDATE ? j->update
                                                               : NULL,
                                    .value = j->value};
}

/* Executes remote operations, in parts that are small enough. */
static void do_there(struct pages *p, struct piece x, struct job j) {
    for (size_t left = x.bytes; left > 0; left -= x.bytes) {
        x.bytes = left < p->small ? left : p->small;
        struct small_operation small = small_of(&x, &j);
        pages_small_run(p, &small);
        pages_pool_count(&p->tally.smalls);
        x.in += x.bytes;
        j = step(j, x.bytes);
    }
}

/* An update cannot be divided. */
static bool is_for_there(struct pages *p, const struct piece *x, enum way way) {
    size_t bytes = small_bytes(x, way);
    if (p->small == 0 || (way == UPDATE && bytes > p->small))
        return false;
    enum pages_hint hint = pages_hints_of(&p->hints, x->rank, x->at);
    if (bytes > p->small)
        return hint == PAGES_NO_CACHE;
    return pages_policy_is_small(&p->policy, x->home, x->page, way != GET, hint, clock_ns());
}

static void do_piece(struct pages *p, const struct piece *x, const struct job *j) {
    if (LIKELY(try_piece(p, x, j)))
        return;
    if (is_for_there(p, x, j->way))
        do_there(p, *x, *j);
    else
        fetch_piece(p, x, j);
}

/* ---- all pieces ---- */

/* The caller drives progress between the pages as well, if the first is missing: it then sends all requests together,
 * and no other thread is woken for each page that arrives. */
static void do_pages(struct pages *p, struct piece x, struct job j, size_t bytes) {
    bool drives = p->serves && !pages_pool_has(&p->pool, x.home, x.page, j.way != GET) &&
                  pages_progress_try_lock(&p->service);
    uint64_t end = drives ? clock_ns() + DRIVE_NS : 0;
    while (bytes > 0) {
        access_fetch_all(p, &x, &j, bytes);
        do_piece(p, &x, &j);
        bytes -= x.bytes;
        j = step(j, x.bytes);
        x = access_piece_at(p, x.rank, x.at + x.bytes, bytes);
        if (drives && clock_ns() > end) {
            pages_progress_unlock(&p->service);
            drives = false;
        }
    }
    if (drives)
        pages_progress_unlock(&p->service);
}

static void do_all(struct pages *p, struct job j, int rank, uint64_t at, size_t bytes) {
    struct piece x = access_piece_at(p, rank, at, bytes);
    if (LIKELY(x.bytes == bytes))
        do_piece(p, &x, &j);
    else
        do_pages(p, x, j, bytes);
}

/* Size of the next part of an operation that goes through the bounce buffer. */
static size_t access_part(size_t rest) {
    return rest < BOUNCE ? rest : BOUNCE;
}

static void get_through_buffer(struct pages *p, char *to, int rank, uint64_t at, size_t bytes) {
    char buffer[BOUNCE];
    for (size_t n; bytes > 0; bytes -= n, at += n, to += n) {
        n = access_part(bytes);
        do_all(p, (struct job){.way = GET, .to = buffer}, rank, at, n);
        memcpy(to, buffer, n); /* may fault */
    }
}

static void put_through_buffer(struct pages *p, int rank, uint64_t at, const char *from, size_t bytes) {
    char buffer[BOUNCE];
    for (size_t n; bytes > 0; bytes -= n, at += n, from += n) {
        n = access_part(bytes);
        memcpy(buffer, from, n);
        do_all(p, (struct job){.way = PUT, .from = buffer}, rank, at, n);
    }
}

void pages_get(struct pages *p, void *to, int rank, const void *from, size_t bytes) {
    uint64_t at = access_offset_of(p, rank, from);
    if (UNLIKELY(access_is_own(p, to)))
        get_through_buffer(p, to, rank, at, bytes);
    else if (bytes > 0)
        do_all(p, (struct job){.way = GET, .to = to}, rank, at, bytes);
}

void pages_put(struct pages *p, int rank, void *to, const void *from, size_t bytes) {
    uint64_t at = access_offset_of(p, rank, to);
    if (UNLIKELY(access_is_own(p, from)))
        put_through_buffer(p, rank, at, from, bytes);
    else if (bytes > 0)
        do_all(p, (struct job){.way = PUT, .from = from}, rank, at, bytes);
}

void pages_set(struct pages *p, int rank, void *to, int value, size_t bytes) {
    if (bytes > 0)
        do_all(p, (struct job){.way = SET, .value = value}, rank, access_offset_of(p, rank, to), bytes);
}

void pages_prefetch(struct pages *p, int rank, const void *from, size_t bytes) {
    if (bytes == 0)
        return;
    uint64_t at = access_offset_of(p, rank, from);
    const struct pages_segment *s = &p->segments[rank];
    for (uint64_t page = at >> p->shift; page <= (at + bytes - 1) >> p->shift; page++)
        access_prefetch(p, s, s->first + (uint32_t)page);
}

int pages_hint(struct pages *p, int rank, const void *from, size_t bytes, enum pages_hint hint) {
    uint64_t at = access_offset_of(p, rank, from);
    if (at > p->segments[rank].bytes || bytes > p->segments[rank].bytes - at)
        return -EINVAL;
    return bytes ? pages_hints_set(&p->hints, rank, at, at + bytes, hint) : 0;
}

/* ---- operations in two steps ---- */

static struct job job_of(const struct pages_op *op) {
    if (op->way == UPDATE)
        return (struct job){.way = UPDATE, .to = op->local, .update = &op->update};
    return op->way == GET ? (struct job){.way = GET, .to = op->local}
                          : (struct job){.way = PUT, .from = op->local};
}

/* Processes pieces from the front while they hit. Returns whether all did. */
static bool do_what_is_here(struct pages *p, struct pages_op *op) {
    while (op->bytes > 0) {
        struct piece x = access_piece_at(p, op->rank, access_offset_of(p, op->rank, op->remote), op->bytes);
        struct job j = job_of(op);
        if (!try_piece(p, &x, &j))
            return false;
        op->bytes -= x.bytes;
        op->remote += x.bytes;
        op->local = op->local ? (char *)op->local + x.bytes : NULL;
    }
    return true;
}

static void request_pages(struct pages *p, const struct pages_op *op) {
    struct piece x = access_piece_at(p, op->rank, access_offset_of(p, op->rank, op->remote), op->bytes);
    uint32_t last = (uint32_t)((x.in + op->bytes - 1) >> p->shift);
    for (uint32_t i = 0; i <= last; i++)
        if (!is_overwritten(p, &x, (enum way)op->way, op->bytes, i))
            access_prefetch(p, &p->segments[op->rank], x.page + i);
}

static bool access_begin(struct pages *p, struct pages_op *op) {
    op->slot = SMALL_NO_SLOT;
    if (access_is_own(p, op->local))
        return op->bytes == 0; /* pages_finish copies it through the bounce buffer */
    if (do_what_is_here(p, op))
        return true;
    struct piece x = access_piece_at(p, op->rank, access_offset_of(p, op->rank, op->remote), op->bytes);
    struct job j = job_of(op);
    if (x.bytes == op->bytes && x.bytes <= p->small && is_for_there(p, &x, (enum way)op->way)) {
        struct small_operation small = small_of(&x, &j);
        pages_pool_count(&p->tally.smalls);
        return pages_small_begin(p, op, &small);
    }
    request_pages(p, op);
    return false;
}

bool pages_begin_get(struct pages *p, struct pages_op *op, void *to, int rank, const void *from,
                     size_t bytes) {
    *op = (struct pages_op){.local = to, .remote = from, .bytes = bytes, .rank = rank, .way = GET};
    return access_begin(p, op);
}

bool pages_begin_put(struct pages *p, struct pages_op *op, int rank, void *to, const void *from,
                     size_t bytes) {
    *op = (struct pages_op){
        .local = (void *)(uintptr_t)from, .remote = to, .bytes = bytes, .rank = rank, .way = PUT};
    return access_begin(p, op);
}

bool pages_begin_update(struct pages *p, struct pages_op *op, void *old, int rank, void *at,
                        const struct pages_update *u) {
    *op = (struct pages_op){
        .local = old, .remote = at, .bytes = u->bytes, .rank = rank, .way = UPDATE, .update = *u};
    return access_begin(p, op);
}

/* A page of which a part is written is prefetched for reading, so it may be present without being writable. A prefetched page may
 * also be gone before it is used. So after some attempts the operation waits for the missing page. */
bool pages_try(struct pages *p, struct pages_op *op) {
    enum { READS = 64, WRITES = 2 };
    if (pages_small_is_under_way(p, op))
        return false;
    if (op->bytes == 0)
        return true;
    if (access_is_own(p, op->local) || op->tries++ >= (op->way == GET ? READS : WRITES)) {
        pages_finish(p, op);
        return true;
    }
    if (do_what_is_here(p, op))
        return true;
    request_pages(p, op);
    return false;
}

/* The previous value may be stored in the own segment, where it may fault: not before the word is updated. */
static void finish_update(struct pages *p, const struct pages_op *op) {
    uint64_t old = 0;
    do_all(p, (struct job){.way = UPDATE, .to = &old, .update = &op->update}, op->rank,
           access_offset_of(p, op->rank, op->remote), op->bytes);
    if (op->local)
        memcpy(op->local, &old, op->bytes);
}

bool pages_is_update(const struct pages_op *op) {
    return op->way == UPDATE;
}

void pages_finish(struct pages *p, struct pages_op *op) {
    pages_small_finish(p, op);
    if (op->bytes == 0)
        return;
    if (op->way == UPDATE)
        finish_update(p, op);
    else if (op->way == GET)
        pages_get(p, op->local, op->rank, op->remote, op->bytes);
    else
        pages_put(p, op->rank, (char *)(uintptr_t)op->remote, op->local, op->bytes);
    op->bytes = 0;
}
