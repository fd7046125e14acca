/* replace.c: replacement policies: LRU, LRU with a FIFO for exclusive pages (the paper's), and a scan-resistant variant
 * of it.
 *
 * A list is doubly linked through `links`, by frame + 1, so that a frame is removed in a few stores wherever it is.
 *
 * *There is always a victim.* The paper does not say what to evict if LRU is empty and FIFO has not reached half of the
 * frames: here it is the head of FIFO. If proposals are refused repeatedly (for example, because all frames in LRU are
 * in use), the other list must get its turn. A proposed frame is therefore marked REFUSED. If it reaches the head again
 * with that mark, it moves to the end, and this one proposal is made from the other list. So each of n frames is
 * proposed within 2 n calls, and a stale mark costs one inspection.
 *
 * *The search terminates.* A frame moves from FIFO to LRU only if it was used, and that clears the mark. So a frame is
 * inspected four times at most: used, refused, moved to FIFO, proposed. Other threads may set marks as fast as they are
 * cleared; after that many inspections marks are ignored for the rest of the call. */
#include "pages/pool/replace.h"

#include <stdatomic.h>

enum { USED = 1, REFUSED = 2 }; /* replace_link.used */
enum { LOOKS = 4 };             /* inspections per frame, in a call */
enum { NEW_LEAST = 64 };        /* minimum room, unless that is more than half of the frames */
enum { SOON = 2 };              /* a page comes back soon: within SOON * room victims */
enum { DISPLACES = 8 };         /* one in so many new pages displaces an unused kept page */

/* ---- room for new pages ---- */

/* A larger share of a small pool, as the room includes the free frames and the pages that some scans have prefetched. */
static uint32_t room_least(const struct replace *r) {
    uint32_t half = r->frames / 2, some = NEW_LEAST < half ? NEW_LEAST : half, eighth = r->frames / 8;
    return eighth > some ? eighth : some;
}

static void replace_widen(struct replace *r) {
    if (r->room < r->frames - r->frames / 8)
        r->room++;
}

static void narrow(struct replace *r) {
    if (r->room > room_least(r))
        r->room--;
}

void pages_replace_open(struct replace *r, enum replace_policy policy, uint32_t frames) {
    *r = (struct replace){.policy = policy, .frames = frames, .room = frames / 4};
    if (r->room < room_least(r))
        r->room = room_least(r);
}

/* ---- lists ---- */

static void replace_append(struct replace *r, struct replace_link *links, enum replace_list list,
                           uint32_t frame) {
    struct replace_link *l = &links[frame];
    l->list = (uint8_t)list;
    l->newer = 0;
    l->older = r->lists[list].newest;
    if (l->older)
        links[l->older - 1].newer = frame + 1;
    else
        r->lists[list].oldest = frame + 1;
    r->lists[list].newest = frame + 1;
    r->lists[list].count++;
}

static void replace_take_out(struct replace *r, struct replace_link *links, uint32_t frame) {
    struct replace_link *l = &links[frame];
    if (l->older)
        links[l->older - 1].newer = l->newer;
    else
        r->lists[l->list].oldest = l->newer;
    if (l->newer)
        links[l->newer - 1].older = l->older;
    else
        r->lists[l->list].newest = l->older;
    r->lists[l->list].count--;
    l->list = REPLACE_NONE;
}

static void replace_move(struct replace *r, struct replace_link *links, enum replace_list to,
                         uint32_t frame) {
    replace_take_out(r, links, frame);
    replace_append(r, links, to, frame);
}

/* ---- evicted pages ---- */

/* Its slot in the table of evicted names; a later name may overwrite it. */
static struct replace_link *replace_place_of(const struct replace *r, struct replace_link *links,
                                             uint32_t name) {
    return &links[name % (r->frames / 2 + 1)];
}

static void replace_remember(const struct replace *r, struct replace_link *links, uint32_t name) {
    struct replace_link *place = replace_place_of(r, links, name);
    place->gone = name;
    place->when = r->victims;
}

/* The limit is also at most the number of kept pages: one inspection of each. Otherwise a loop slightly longer than the
 * pool, in which each page comes back and each kept page is used, would widen more than it narrows. */
static bool is_soon(const struct replace *r, uint32_t when) {
    uint32_t kept = r->frames - r->room, limit = SOON * r->room;
    return r->victims - when < (limit < kept ? limit : kept);
}

static bool comes_back(struct replace *r, struct replace_link *links, uint32_t name) {
    struct replace_link *place = replace_place_of(r, links, name);
    if (place->gone != name)
        return false;
    place->gone = 0;
    if (is_soon(r, place->when))
        replace_widen(r);
    return true;
}

void pages_replace_add(struct replace *r, struct replace_link *links, uint32_t frame, uint32_t name) {
    atomic_store_explicit(&links[frame].used, 0, memory_order_relaxed);
    links[frame].name = name;
    links[frame].came_back = comes_back(r, links, name);
    replace_append(r, links, REPLACE_IN_LRU, frame);
}

void pages_replace_remove(struct replace *r, struct replace_link *links, uint32_t frame) {
    replace_take_out(r, links, frame);
}

/* ---- victims ---- */

/* The list of the next victim; `other`: the other list, if possible. */
static enum replace_list replace_choose(const struct replace *r, bool other) {
    uint32_t lru = r->lists[REPLACE_IN_LRU].count, fifo = r->lists[REPLACE_IN_FIFO].count;
    if (!lru || !fifo)
        return lru ? REPLACE_IN_LRU : REPLACE_IN_FIFO;
    bool full = r->policy == REPLACE_LRU_FIFO && fifo > r->frames / 2; /* lru+keep: see joins() */
    return full != other ? REPLACE_IN_FIFO : REPLACE_IN_LRU;
}

/* The mark is a hint: a mark that is set concurrently may be lost. */
static uint8_t take_mark(struct replace_link *l) {
    uint8_t mark = atomic_load_explicit(&l->used, memory_order_relaxed);
    if (mark)
        atomic_store_explicit(&l->used, 0, memory_order_relaxed);
    return mark;
}

/* FIFO is full, and a page that no other node holds is at the end of LRU. Returns whether the head of FIFO is evicted
 * in its place. Of pages that have not come back, only one in DISPLACES wins, because pages of a long scan outnumber the
 * pages that stay. */
static bool displaces(struct replace *r, struct replace_link *links, uint32_t f) {
    uint32_t head = r->lists[REPLACE_IN_FIFO].oldest - 1;
    bool too_many = r->lists[REPLACE_IN_FIFO].count > r->frames - r->room;
    uint8_t mark = take_mark(&links[head]);
    if (mark == USED)
        narrow(r);
    if (mark) {
        replace_move(r, links, mark == USED && too_many ? REPLACE_IN_LRU : REPLACE_IN_FIFO, head);
        return false;
    }
    if (too_many)
        return true;
    if (!links[f].came_back && ++r->newcomers % DISPLACES != 0)
        return false;
    replace_move(r, links, REPLACE_IN_FIFO, f);
    return true;
}

static bool has_place(const struct replace *r) {
    return r->policy == REPLACE_LRU_FIFO || r->lists[REPLACE_IN_FIFO].count < r->frames - r->room;
}

/* Whether the head of FIFO is evicted because other nodes hold it too by now. If it is in use, it moves to LRU, where
 * such pages belong. */
static bool gives_way(struct replace *r, struct replace_link *links, uint32_t head,
                      bool (*is_only)(void *arg, uint32_t frame), void *arg) {
    if (is_only(arg, head))
        return false;
    uint8_t mark = take_mark(&links[head]);
    if (mark)
        replace_move(r, links, mark == USED ? REPLACE_IN_LRU : REPLACE_IN_FIFO, head);
    return !mark;
}

/* Moves the page to FIFO and returns 0 if there is room. Otherwise returns the victim of the two, as frame + 1. */
static uint32_t joins(struct replace *r, struct replace_link *links, uint32_t f,
                      bool (*is_only)(void *arg, uint32_t frame), void *arg) {
    uint32_t head = r->lists[REPLACE_IN_FIFO].oldest;
    if (!has_place(r) && head && gives_way(r, links, head - 1, is_only, arg))
        return head;
    if (has_place(r)) {
        replace_move(r, links, REPLACE_IN_FIFO, f);
        return 0;
    }
    head = r->lists[REPLACE_IN_FIFO].oldest;
    if (head && displaces(r, links, f))
        return head;
    replace_remember(r, links, links[f].name);
    return f + 1;
}

static bool proposed(struct replace *r, struct replace_link *links, uint32_t f, uint32_t *frame) {
    replace_move(r, links, (enum replace_list)links[f].list, f);
    r->victims++;
    atomic_store_explicit(&links[f].used, REFUSED, memory_order_relaxed);
    *frame = f;
    return true;
}

bool pages_replace_propose(struct replace *r, struct replace_link *links,
                           bool (*is_only)(void *arg, uint32_t frame), void *arg, uint32_t *frame) {
    uint64_t looks = (uint64_t)LOOKS * (r->lists[REPLACE_IN_LRU].count + r->lists[REPLACE_IN_FIFO].count);
    bool other = false;
    if (!looks)
        return false;
    for (;;) {
        enum replace_list list = replace_choose(r, other);
        uint32_t f = r->lists[list].oldest - 1;
        uint8_t mark = take_mark(&links[f]);
        if (!looks)
            mark = 0;
        else
            looks--;
        if (mark == USED) {
            replace_move(r, links, REPLACE_IN_LRU, f);
        } else if (mark == REFUSED && !other && replace_choose(r, true) != list) {
            replace_move(r, links, list, f);
            other = true;
        } else if (list == REPLACE_IN_LRU && r->policy != REPLACE_LRU && is_only(arg, f)) {
            uint32_t victim = joins(r, links, f, is_only, arg);
            if (victim)
                return proposed(r, links, victim - 1, frame);
        } else {
            return proposed(r, links, f, frame);
        }
    }
}

/* ---- checking ---- */

static bool replace_check_list(const struct replace *r, const struct replace_link *links,
                               enum replace_list list) {
    uint32_t before = 0, length = 0;
    for (uint32_t at = r->lists[list].oldest; at; before = at, at = links[at - 1].newer, length++)
        if (at > r->frames || length >= r->frames || links[at - 1].older != before ||
            links[at - 1].list != list)
            return false;
    return r->lists[list].newest == before && r->lists[list].count == length;
}

bool pages_replace_check(const struct replace *r, const struct replace_link *links) {
    uint32_t listed = 0;
    for (uint32_t f = 0; f < r->frames; f++)
        listed += links[f].list != REPLACE_NONE;
    return replace_check_list(r, links, REPLACE_IN_LRU) && replace_check_list(r, links, REPLACE_IN_FIFO) &&
           r->lists[REPLACE_IN_LRU].count + r->lists[REPLACE_IN_FIFO].count == listed &&
           (r->policy != REPLACE_LRU || !r->lists[REPLACE_IN_FIFO].count);
}
