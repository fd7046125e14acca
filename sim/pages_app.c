/* pages_app.c: the program of a node: one access after another, each a get of a whole page or a put of one byte. */
#include <stdlib.h>

#include "base/random.h"
#include "need.h"
#include "pages_sim.h"

enum { SMALL_BYTES = 8 };

static uint32_t accesses(const struct pages_world *w, uint32_t node) {
    if (w->plan.pattern == THIRD)
        return node == HOME ? 0 : w->plan.puts;
    return w->plan.pattern == SEQUENTIAL || w->plan.pattern == RANDOM ? w->plan.pages : w->plan.puts;
}

static void choose_third(const struct pages_world *w, struct node *n) {
    n->page = n->at;
    n->write = true;
    n->whole = n == &w->nodes[OWNER];
}

/* Chooses the next access. */
static void choose(struct pages_world *w, struct node *n) {
    if (w->plan.pattern == THIRD) {
        choose_third(w, n);
        return;
    }
    bool mixed = w->plan.pattern == MIXED, puts = w->plan.pattern == FALSE_SHARING;
    n->page = mixed ? random_below(&w->random, w->plan.pages) : puts ? 0 : n->order ? n->order[n->at] : n->at;
    n->write = mixed ? random_below(&w->random, 3) == 0 : puts;
    n->whole = mixed ? random_below(&w->random, 2) == 0 : !puts;
}

/* Each node has an order of its own. */
static void shuffle(struct pages_world *w, uint32_t *order, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = random_below(&w->random, i), swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

void app_open(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    if (w->plan.pattern == RANDOM) {
        n->order = need(malloc(w->plan.pages * sizeof *n->order));
        shuffle(w, n->order, w->plan.pages);
    }
    choose(w, n);
    if (w->plan.pattern != THIRD || node == OWNER)
        app_call(w, node);
    else if (!accesses(w, node))
        w->over++;
}

void app_call(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    if (n->called)
        return;
    n->called = true;
    n->app = APP_TRIES;
    world_at(w, w->events.now, EVENT_APP, node, 0);
}

/* ---- one access ---- */

/* All nodes have put once more. They continue after the time that a barrier by a tree of messages takes. */
static void all_have_met(struct pages_world *w) {
    double ns = 0;
    for (uint32_t reached = 1; reached < w->plan.nodes; reached *= 2)
        ns += 2e3 * w->plan.machine.latency_us;
    w->met = 0;
    for (uint32_t i = 0; i < w->plan.nodes; i++) {
        struct node *n = &w->nodes[i];
        n->app = APP_TRIES;
        n->called = true;
        n->began = w->events.now + (uint64_t)ns;
        world_at(w, n->began, EVENT_APP, i, 0);
    }
}

static void begin_third(struct pages_world *w) {
    struct node *n = &w->nodes[THIRD_NODE];
    n->started = n->began = w->events.now;
    w->messages_before = w->network.messages;
    app_call(w, THIRD_NODE);
}

static void begin_next(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    uint64_t took = w->events.now - n->began;
    n->longest = took > n->longest ? took : n->longest;
    n->finished = n->began = w->events.now;
    bool more = ++n->at < accesses(w, node);
    n->app = APP_OVER;
    if (more)
        choose(w, n);
    if (!more) {
        w->over++;
        if (w->plan.pattern == THIRD && node == OWNER)
            begin_third(w);
    } else if (w->plan.pattern != FALSE_SHARING || !w->plan.meet)
        app_call(w, node);
    else if (++w->met == w->plan.nodes)
        all_have_met(w);
}

static void walk_on(struct pages_world *w, uint32_t node, uint32_t page) {
    if (!w->plan.ahead)
        return;
    struct ahead_pages a = pages_ahead_after(&w->nodes[node].ahead, HOME, page, w->plan.ahead);
    for (uint32_t i = 0; i < a.count; i++)
        cache_prefetch(w, node, a.first + (uint32_t)((int32_t)i * a.step));
}

static void ask_small(struct pages_world *w, uint32_t node, uint32_t page) {
    struct node *n = &w->nodes[node];
    if (n->window <= FOR_EVICTION) {
        n->app = APP_WAITS_ROOM;
        return;
    }
    struct flight f = {.m = {.kind = PAGES_SMALL,
                             .home = HOME,
                             .from = (uint16_t)node,
                             .to = HOME,
                             .page = page,
                             .flags = n->write ? PAGES_WRITES : 0,
                             .tag = n->at},
                       .bytes = SMALL_BYTES};
    n->window--;
    n->smalls++;
    n->app = APP_WAITS_SMALL;
    world_send(w, &f);
}

static void ask_raw(struct pages_world *w, uint32_t node) {
    struct flight f = {
        .m = {.home = HOME, .from = (uint16_t)node, .to = HOME}, .raw = 1, .bytes = !w->nodes[node].whole};
    w->nodes[node].app = APP_WAITS_SMALL;
    world_send(w, &f);
}

static void copy(struct pages_world *w, uint32_t node, uint32_t frame) {
    struct node *n = &w->nodes[node];
    must(n->frames[frame].version == w->latest[n->frames[frame].control.page], "an old copy is read");
    n->app = APP_COPIES;
    n->frame = frame;
    uint64_t ns = n->whole ? world_copy_ns(w) : (uint64_t)(1e3 * w->plan.machine.put_us);
    world_at(w, w->events.now + ns, EVENT_COPIED, node, 0);
}

void app_go(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    uint32_t page = n->page, frame = 0;
    bool write = n->write, hit = !w->plan.raw && cache_is_hit(w, node, page, write);
    n->called = false;
    if (w->plan.raw) {
        ask_raw(w, node);
        return;
    }
    if (!hit && !n->whole && w->plan.small &&
        pages_policy_is_small(n->habit, HOME, page, write, PAGES_NORMAL, w->events.now)) {
        ask_small(w, node, page);
        return;
    }
    if (!hit)
        walk_on(w, node, page);
    int got = cache_acquire(w, node, page, write, &frame);
    n->frame = frame;
    n->app = got == CACHE_NO_ROOM ? APP_WAITS_ROOM : got == PAGES_WAIT ? APP_WAITS_READY : APP_WAITS_AGAIN;
    *(hit ? &n->hits : &n->misses) += got == PAGES_HIT || got == PAGES_WAIT;
    if (got == PAGES_HIT)
        copy(w, node, frame);
}

void app_ready(struct pages_world *w, uint32_t node, uint32_t frame) {
    copy(w, node, frame);
}

void app_copied(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    struct frame *f = &n->frames[n->frame];
    uint32_t page = f->control.page, frame = n->frame;
    bool fresh = f->fresh;
    must(f->version == w->latest[page], "a copy was overwritten while it was read");
    if (n->write)
        world_written(w, page, node, &f->version);
    f->fresh = false;
    cache_release(w, node, frame, n->write);
    if (fresh)
        walk_on(w, node, page);
    begin_next(w, node);
}

void app_answered(struct pages_world *w, uint32_t node) {
    begin_next(w, node);
}
