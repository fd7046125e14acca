/* cache_write.c: finds the entries that a write overlaps.
 *
 * An interval set, with one span per entry that lookups can find, yields the candidates; their blocks then decide.
 * Windows that are only read never pay for the set: it is built at the first write. If there is no memory for it,
 * each write examines all entries instead, which is slow but correct. */
#include "cache/cache_write.h"

#include "tables/spans.h"

void write_range(uint64_t disp, const struct shape *shape, uint64_t *lo, uint64_t *hi) {
    int64_t from, to;
    shape_hull(shape, &from, &to);
    /* Clamp at the ends of the address space instead of wrapping around. */
    if (from < 0 && (uint64_t)-from > disp)
        *lo = 0;
    else
        *lo = disp + (uint64_t)from;
    if (to > 0 && disp + (uint64_t)to < disp)
        *hi = UINT64_MAX;
    else
        *hi = disp + (uint64_t)to;
}

static void write_add(struct cache *c, uint32_t id) {
    const struct cache_entry *e = &c->pool[id];
    struct shape shape = shape_of(c, e);
    uint64_t lo, hi;
    write_range(e->disp, &shape, &lo, &hi);
    spans_add(&c->spans, id, e->target, lo, hi);
}

void write_forget(struct cache *c, uint32_t id) {
    if (c->tracking && spans_has(&c->spans, id))
        spans_remove(&c->spans, id);
}

void write_note(struct cache *c, uint32_t id) {
    if (!c->tracking)
        return;
    write_forget(c, id);
    write_add(c, id);
}

void write_forget_all(struct cache *c) {
    if (c->tracking && c->spans.count)
        spans_clear(&c->spans);
}

void write_close(struct cache *c) {
    if (c->tracking)
        spans_close(&c->spans);
    c->tracking = false;
}

void write_resize(struct cache *c) {
    if (c->tracking && spans_resize(&c->spans, c->capacity))
        write_close(c);
}

static void start_tracking(struct cache *c) {
    if (spans_open(&c->spans, c->capacity, c->config.budget))
        return;
    c->tracking = true;
    for (uint32_t id = c->pool[0].next; id; id = c->pool[id].next)
        if (is_entry(&c->pool[id]) && is_current(c, &c->pool[id]))
            write_add(c, id);
}

struct write {
    struct cache *cache;
    const struct shape *shape;
    uint64_t disp;
    uint64_t touched;
};

static void write_touch(void *arg, uint32_t id) {
    struct write *w = arg;
    struct cache *c = w->cache;
    const struct cache_entry *e = &c->pool[id];
    struct shape shape = shape_of(c, e);
    if (!shape_overlaps(&shape, w->shape, (int64_t)(w->disp - e->disp)))
        return;
    w->touched++;
    cache_invalidate_pending(c, id);
}

static void touch_any(struct write *w, uint32_t target) {
    struct cache *c = w->cache;
    for (uint32_t id = c->pool[0].next, next; id; id = next) {
        const struct cache_entry *e = &c->pool[id];
        next = e->next;
        if (next && c->pool[next].kind == KIND_REGION) /* dropping this entry merges with it */
            next = c->pool[next].next;
        if (is_entry(e) && is_current(c, e) && e->target == target)
            write_touch(w, id);
    }
}

uint64_t cache_write(struct cache *c, uint32_t target, uint64_t disp, const struct shape *shape) {
    struct write w = {.cache = c, .shape = shape, .disp = disp};
    uint64_t lo, hi;
    if (!shape->bytes || !(c->cached + c->pending))
        return 0;
    if (!c->tracking)
        start_tracking(c);
    write_range(disp, shape, &lo, &hi);
    if (c->tracking)
        spans_overlapping(&c->spans, target, lo, hi, write_touch, &w);
    else
        touch_any(&w, target);
    c->count.dropped += w.touched;
    return w.touched;
}
