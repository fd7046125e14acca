/* replace.c: LRU, and LRU with a FIFO for pages that nobody else has: the paper's, and one that a long walk leaves whole.
 *
 * A list is doubly linked through `links`, by frame + 1, so that a frame leaves it in a few stores wherever
 * it is.
 *
 * *There is always a victim.* The paper does not say what goes if LRU is empty and FIFO has not reached half
 * of the frames: here it is the head of FIFO all the same. And if what is proposed is refused again and again
 * (all that is in LRU is in use, say), the other list must have its turn: a frame that is proposed keeps the
 * mark REFUSED, and if it comes to the head again, it goes to the end and this one proposal is made from the
 * other list. So of n frames each is proposed within 2 n calls, and a mark that was left by something long
 * over costs one look.
 *
 * *The walk ends.* A frame goes from FIFO to LRU only if it was used, and that mark is taken from it on the
 * way; so it is looked at four times at most: used, refused, moved to FIFO, proposed. Other threads may set
 * marks meanwhile as fast as we take them away: who was looked at that often has no mark for the rest of the
 * call. */
#include "pages/replace.h"

#include <stdatomic.h>

enum { USED = 1, REFUSED = 2 }; /* replace_link.used */
enum { LOOKS = 4 };             /* at each frame, in a call */
enum { NEW_LEAST = 64 };        /* frames for what is new, unless that is more than half */
enum { SOON = 2 };              /* times the room: victims until a page comes back */
enum { DISPLACES = 8 };         /* so many newcomers ask before a kept copy that nobody uses goes */

/* ---- room for what is new ---- */

/* In a small pool more than elsewhere, as free frames and what some walks have fetched ahead are among it. */
static uint32_t room_least(const struct replace *r) {
    uint32_t half = r->frames / 2, some = NEW_LEAST < half ? NEW_LEAST : half, eighth = r->frames / 8;
    return eighth > some ? eighth : some;
}

static void widen(struct replace *r) {
    if (r->room < r->frames - r->frames / 8)
        r->room++;
}

static void narrow(struct replace *r) {
    if (r->room > room_least(r))
        r->room--;
}

void replace_open(struct replace *r, enum replace_policy policy, uint32_t frames) {
    *r = (struct replace){.policy = policy, .frames = frames, .room = frames / 4};
    if (r->room < room_least(r))
        r->room = room_least(r);
}

/* ---- lists ---- */

static void append(struct replace *r, struct replace_link *links, enum replace_list list, uint32_t frame) {
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

static void take_out(struct replace *r, struct replace_link *links, uint32_t frame) {
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

static void move(struct replace *r, struct replace_link *links, enum replace_list to, uint32_t frame) {
    take_out(r, links, frame);
    append(r, links, to, frame);
}

/* ---- what had to go ---- */

/* Where its name is kept, until another takes the place. */
static struct replace_link *place_of(const struct replace *r, struct replace_link *links, uint32_t name) {
    return &links[name % (r->frames / 2 + 1)];
}

static void remember(const struct replace *r, struct replace_link *links, uint32_t name) {
    struct replace_link *place = place_of(r, links, name);
    place->gone = name;
    place->when = r->victims;
}

/* No later than each kept page is looked at once, either: else a loop a little longer than the pool, of which each page
 * comes back, and each kept one is used, would widen more than it narrows. */
static bool is_soon(const struct replace *r, uint32_t when) {
    uint32_t kept = r->frames - r->room, limit = SOON * r->room;
    return r->victims - when < (limit < kept ? limit : kept);
}

static bool comes_back(struct replace *r, struct replace_link *links, uint32_t name) {
    struct replace_link *place = place_of(r, links, name);
    if (place->gone != name)
        return false;
    place->gone = 0;
    if (is_soon(r, place->when))
        widen(r);
    return true;
}

void replace_add(struct replace *r, struct replace_link *links, uint32_t frame, uint32_t name) {
    atomic_store_explicit(&links[frame].used, 0, memory_order_relaxed);
    links[frame].name = name;
    links[frame].came_back = comes_back(r, links, name);
    append(r, links, REPLACE_IN_LRU, frame);
}

void replace_remove(struct replace *r, struct replace_link *links, uint32_t frame) {
    take_out(r, links, frame);
}

/* ---- victims ---- */

/* Where the next victim comes from; `other`: not from there, if possible. */
static enum replace_list choose(const struct replace *r, bool other) {
    uint32_t lru = r->lists[REPLACE_IN_LRU].count, fifo = r->lists[REPLACE_IN_FIFO].count;
    if (!lru || !fifo)
        return lru ? REPLACE_IN_LRU : REPLACE_IN_FIFO;
    bool full = r->policy == REPLACE_LRU_FIFO && fifo > r->frames / 2; /* lru+keep: see joins() */
    return full != other ? REPLACE_IN_FIFO : REPLACE_IN_LRU;
}

/* Marks are no more than that: who sets one at the same moment may find it overwritten. */
static uint8_t take_mark(struct replace_link *l) {
    uint8_t mark = atomic_load_explicit(&l->used, memory_order_relaxed);
    if (mark)
        atomic_store_explicit(&l->used, 0, memory_order_relaxed);
    return mark;
}

/* FIFO is full, and a copy that nobody else has is at the end of LRU. Whether the head of FIFO goes in its place. Those
 * that come and go in a long walk are more than those that stay. */
static bool displaces(struct replace *r, struct replace_link *links, uint32_t f) {
    uint32_t head = r->lists[REPLACE_IN_FIFO].oldest - 1;
    bool too_many = r->lists[REPLACE_IN_FIFO].count > r->frames - r->room;
    uint8_t mark = take_mark(&links[head]);
    if (mark == USED)
        narrow(r);
    if (mark) {
        move(r, links, mark == USED && too_many ? REPLACE_IN_LRU : REPLACE_IN_FIFO, head);
        return false;
    }
    if (too_many)
        return true;
    if (!links[f].came_back && ++r->newcomers % DISPLACES != 0)
        return false;
    move(r, links, REPLACE_IN_FIFO, f);
    return true;
}

/* It joins FIFO, if there is room: then 0. Else one of the two goes, frame + 1. */
static uint32_t joins(struct replace *r, struct replace_link *links, uint32_t f) {
    if (r->policy == REPLACE_LRU_FIFO || r->lists[REPLACE_IN_FIFO].count < r->frames - r->room) {
        move(r, links, REPLACE_IN_FIFO, f);
        return 0;
    }
    uint32_t head = r->lists[REPLACE_IN_FIFO].oldest;
    if (head && displaces(r, links, f))
        return head;
    remember(r, links, links[f].name);
    return f + 1;
}

static bool proposed(struct replace *r, struct replace_link *links, uint32_t f, uint32_t *frame) {
    move(r, links, (enum replace_list)links[f].list, f);
    r->victims++;
    atomic_store_explicit(&links[f].used, REFUSED, memory_order_relaxed);
    *frame = f;
    return true;
}

bool replace_propose(struct replace *r, struct replace_link *links,
                     bool (*is_only)(void *arg, uint32_t frame), void *arg, uint32_t *frame) {
    uint64_t looks = (uint64_t)LOOKS * (r->lists[REPLACE_IN_LRU].count + r->lists[REPLACE_IN_FIFO].count);
    bool other = false;
    if (!looks)
        return false;
    for (;;) {
        enum replace_list list = choose(r, other);
        uint32_t f = r->lists[list].oldest - 1;
        uint8_t mark = take_mark(&links[f]);
        if (!looks)
            mark = 0;
        else
            looks--;
        if (mark == USED) {
            move(r, links, REPLACE_IN_LRU, f);
        } else if (mark == REFUSED && !other && choose(r, true) != list) {
            move(r, links, list, f);
            other = true;
        } else if (list == REPLACE_IN_LRU && r->policy != REPLACE_LRU && is_only(arg, f)) {
            uint32_t victim = joins(r, links, f);
            if (victim)
                return proposed(r, links, victim - 1, frame);
        } else {
            return proposed(r, links, f, frame);
        }
    }
}

/* ---- checking ---- */

static bool check_list(const struct replace *r, const struct replace_link *links, enum replace_list list) {
    uint32_t before = 0, count = 0;
    for (uint32_t at = r->lists[list].oldest; at; before = at, at = links[at - 1].newer, count++)
        if (at > r->frames || count >= r->frames || links[at - 1].older != before ||
            links[at - 1].list != list)
            return false;
    return r->lists[list].newest == before && r->lists[list].count == count;
}

bool replace_check(const struct replace *r, const struct replace_link *links) {
    uint32_t listed = 0;
    for (uint32_t f = 0; f < r->frames; f++)
        listed += links[f].list != REPLACE_NONE;
    return check_list(r, links, REPLACE_IN_LRU) && check_list(r, links, REPLACE_IN_FIFO) &&
           r->lists[REPLACE_IN_LRU].count + r->lists[REPLACE_IN_FIFO].count == listed &&
           (r->policy != REPLACE_LRU || !r->lists[REPLACE_IN_FIFO].count);
}
