/* ahead.c: read-ahead streams. Two neighbouring pages in succession make a stream. From the second page on its window
 * doubles with each page, up to the maximum: a short stream costs one or two useless pages, a long one soon has the
 * whole window under way.
 *
 *      page    ...  11  12  13 | 14  15  16  17 |
 *                           ^    <--- ahead --->     of the window: requested, not reached yet
 *                          last
 *
 * The next page of a stream is any of those ahead, or the one after them: threads that share a stream may arrive out of
 * order, and the use of a prefetched page may go unreported. The pages to request are the part of the window beyond
 * `ahead`.
 *
 * A stream is one word, so that concurrent updates leave one of the two values:
 *
 *      | 63 home 48 | 47 last 16 | 15 window 9 | 8 ahead 2 | 1 kind 0 |
 *
 * New streams take slots in turn, but do not immediately replace an established stream: its window is halved instead.
 * So single random pages do not displace a stream. */
#include "pages/pool/ahead.h"

#include <stdbool.h>

enum kind { NONE, ONE_PAGE, FORWARD, BACKWARD };

struct stream {
    uint32_t home, last, window, ahead;
    enum kind kind;
};

static struct stream ahead_unpack(uint64_t word) {
    return (struct stream){.home = (uint32_t)(word >> 48),
                           .last = (uint32_t)(word >> 16),
                           .window = (uint32_t)(word >> 9) & 127,
                           .ahead = (uint32_t)(word >> 2) & 127,
                           .kind = (enum kind)(word & 3)};
}

static uint64_t ahead_pack(const struct stream *s) {
    return (uint64_t)s->home << 48 | (uint64_t)s->last << 16 | (uint64_t)s->window << 9 |
           (uint64_t)s->ahead << 2 | (uint64_t)s->kind;
}

static uint32_t ahead_least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Whether the page continues this stream or is its current position; the number of steps to it, and the direction. */
static bool is_on(const struct stream *s, uint16_t home, uint32_t page, uint32_t *steps, enum kind *way) {
    if (s->kind == NONE || s->home != home)
        return false;
    *way = page >= s->last ? FORWARD : BACKWARD;
    *steps = *way == FORWARD ? page - s->last : s->last - page;
    if (!*steps)
        return true;
    return *steps <= s->ahead + 1 && (s->kind == ONE_PAGE || s->kind == *way);
}

/* How far the stream can go before page numbers end. */
static uint32_t room(const struct stream *s) {
    return s->kind == FORWARD ? UINT32_MAX - s->last : s->last;
}

static struct ahead_pages ahead_go(struct stream *s, uint32_t steps, enum kind way, uint32_t page,
                                   unsigned most) {
    s->kind = way;
    s->last = page;
    s->ahead = s->ahead > steps ? s->ahead - steps : 0;
    s->window = ahead_least(s->window ? 2 * s->window : 1, most);
    uint32_t reach = ahead_least(s->window, room(s)), old = s->ahead;
    int32_t step = way == FORWARD ? 1 : -1;
    if (reach <= old)
        return (struct ahead_pages){.step = step};
    s->ahead = reach;
    return (struct ahead_pages){
        .count = reach - old, .step = step, .first = page + (uint32_t)step * (old + 1)};
}

static void ahead_begin(struct ahead *a, uint16_t home, uint32_t page) {
    struct stream fresh = {.home = home, .last = page, .kind = ONE_PAGE};
    for (int tries = 0;; tries++) {
        uint32_t at = atomic_fetch_add_explicit(&a->hand, 1, memory_order_relaxed) % AHEAD_STREAMS;
        struct stream old = ahead_unpack(atomic_load_explicit(&a->streams[at], memory_order_relaxed));
        if (!old.window || tries == AHEAD_STREAMS) {
            atomic_store_explicit(&a->streams[at], ahead_pack(&fresh), memory_order_relaxed);
            return;
        }
        old.window /= 2;
        atomic_store_explicit(&a->streams[at], ahead_pack(&old), memory_order_relaxed);
    }
}

struct ahead_pages pages_ahead_after(struct ahead *a, uint16_t home, uint32_t page, unsigned most) {
    struct ahead_pages none = {.step = 1};
    if (!most)
        return none;
    for (int i = 0; i < AHEAD_STREAMS; i++) {
        struct stream s = ahead_unpack(atomic_load_explicit(&a->streams[i], memory_order_relaxed));
        uint32_t steps;
        enum kind way;
        if (!is_on(&s, home, page, &steps, &way))
            continue;
        if (!steps)
            return none;
        struct ahead_pages pages = ahead_go(&s, steps, way, page, ahead_least(most, AHEAD_MOST));
        atomic_store_explicit(&a->streams[i], ahead_pack(&s), memory_order_relaxed);
        return pages;
    }
    ahead_begin(a, home, page);
    return none;
}
