/* pages_cache.c: the copies that a node holds, as in src/pages/pool/pool.c and service_cache.c. */
#include <stdlib.h>

#include "need.h"
#include "pages_sim.h"

void cache_open(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    uint32_t frames = w->plan.machine.frames;
    n->frames = need(calloc(frames, sizeof *n->frames));
    n->links = need(calloc(frames, sizeof *n->links));
    n->where = need(calloc(w->plan.pages, sizeof *n->where));
    n->habit = need(calloc(1, sizeof *n->habit));
    pages_replace_open(&n->replace, REPLACE_LRU_KEEP, frames);
    for (uint32_t i = 0; i < frames; i++)
        n->frames[i].next = i + 1 < frames ? i + 2 : 0;
    n->first_free = 1;
    n->free_count = frames;
    n->window = PAGES_WINDOW;
}

void cache_close(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    free(n->frames);
    free(n->links);
    free(n->where);
    free(n->habit);
}

static uint32_t wanted_free(const struct pages_world *w) {
    uint32_t share = w->plan.machine.frames / 16;
    return share < 2 ? 2 : share > 64 ? 64 : share;
}

/* ---- frames ---- */

static uint32_t take_frame(struct pages_world *w, uint32_t node, uint32_t page) {
    struct node *n = &w->nodes[node];
    uint32_t frame = n->first_free - 1;
    struct frame *f = &n->frames[frame];
    n->first_free = f->next;
    n->free_count--;
    *f = (struct frame){.version = 0};
    pages_control_open(&f->control, (uint16_t)node, HOME, page);
    n->where[page] = frame + 1;
    pages_replace_add(&n->replace, n->links, frame, pages_replace_name(HOME, page));
    return frame;
}

static void free_if_unused(struct pages_world *w, uint32_t node, uint32_t frame) {
    struct node *n = &w->nodes[node];
    struct frame *f = &n->frames[frame];
    if (!f->gone || f->sends)
        return;
    if (f->leaving) {
        n->leaving--;
        n->evicted++;
    }
    f->gone = f->leaving = false;
    f->next = n->first_free;
    n->first_free = frame + 1;
    n->free_count++;
    if (n->app == APP_WAITS_ROOM)
        app_call(w, node);
}

void cache_left(struct pages_world *w, uint32_t node, uint32_t frame) {
    w->nodes[node].frames[frame].sends--;
    free_if_unused(w, node, frame);
}

/* ---- actions of a controller ---- */

static bool brings_page(const struct pages_message *m) {
    return m->kind == PAGES_DATA || (m->kind == PAGES_WRITEBACK_DATA && m->flags & PAGES_DIRTY);
}

static void send_all(struct pages_world *w, uint32_t node, uint32_t frame, const struct pages_effects *e,
                     uint16_t small) {
    struct frame *f = &w->nodes[node].frames[frame];
    for (uint8_t i = 0; i < e->count; i++) {
        struct flight out = {.m = e->messages[i], .version = f->version};
        if (brings_page(&out.m)) {
            out.frame = frame + 1;
            f->sends++;
        }
        if (out.m.kind == PAGES_ANSWER)
            out.bytes = small;
        world_send(w, &out);
    }
}

static void settle(struct pages_world *w, uint32_t node, uint32_t frame, bool was_asking,
                   const struct pages_effects *e, uint16_t small) {
    struct node *n = &w->nodes[node];
    struct frame *f = &n->frames[frame];
    bool is_asking = pages_control_is_asking(&f->control);
    must(!(e->actions & (PAGES_UNMAP | PAGES_PROTECT)), "nothing is mapped here");
    n->window += was_asking - is_asking;
    must(n->window >= 0, "more requests are open than the home has places for");
    send_all(w, node, frame, e, small);
    if (e->actions & PAGES_FREED) {
        f->gone = true;
        n->where[f->control.page] = 0;
        pages_replace_remove(&n->replace, n->links, frame);
        free_if_unused(w, node, frame);
    }
    if (e->actions & PAGES_READY && n->app == APP_WAITS_READY && n->frame == frame)
        app_ready(w, node, frame);
    if ((e->actions & (PAGES_RETRY | PAGES_FREED) && n->app == APP_WAITS_AGAIN && n->frame == frame) ||
        (was_asking && !is_asking && n->app == APP_WAITS_ROOM))
        app_call(w, node);
}

/* ---- the program ---- */

static bool is_hit(const struct pages_control *c, bool write) {
    return write ? c->state == PAGES_M || c->state == PAGES_E : c->state != PAGES_I;
}

bool cache_is_hit(const struct pages_world *w, uint32_t node, uint32_t page, bool write) {
    const struct node *n = &w->nodes[node];
    return n->where[page] && is_hit(&n->frames[n->where[page] - 1].control, write);
}

int cache_acquire(struct pages_world *w, uint32_t node, uint32_t page, bool write, uint32_t *frame) {
    struct node *n = &w->nodes[node];
    struct pages_effects e;
    bool here = n->where[page];
    const struct pages_control *old = here ? &n->frames[n->where[page] - 1].control : NULL;
    bool asks = !here || (!is_hit(old, write) && !old->open);
    if ((asks && n->window <= FOR_EVICTION) || (!here && !n->free_count)) {
        cache_make_room(w, node);
        return CACHE_NO_ROOM;
    }
    *frame = here ? n->where[page] - 1 : take_frame(w, node, page);
    struct frame *f = &n->frames[*frame];
    bool was_asking = pages_control_is_asking(&f->control);
    enum pages_got got = pages_control_acquire(&f->control, write, &e);
    settle(w, node, *frame, was_asking, &e, 0);
    if (got == PAGES_HIT)
        atomic_store_explicit(&n->links[*frame].used, 1, memory_order_relaxed);
    cache_make_room(w, node);
    return (int)got;
}

void cache_release(struct pages_world *w, uint32_t node, uint32_t frame, bool write) {
    struct frame *f = &w->nodes[node].frames[frame];
    struct pages_effects e;
    bool was_asking = pages_control_is_asking(&f->control);
    pages_control_release(&f->control, write, &e);
    settle(w, node, frame, was_asking, &e, 0);
}

bool cache_prefetch(struct pages_world *w, uint32_t node, uint32_t page) {
    struct node *n = &w->nodes[node];
    struct pages_effects e;
    if (page >= w->plan.pages || n->where[page] || n->window <= 2 * FOR_EVICTION ||
        n->free_count <= wanted_free(w) / 2)
        return false;
    uint32_t frame = take_frame(w, node, page);
    n->frames[frame].fresh = true;
    bool asked = pages_control_prefetch(&n->frames[frame].control, &e);
    settle(w, node, frame, false, &e, 0);
    return asked;
}

/* ---- messages ---- */

static void count_data(struct pages_world *w, const struct pages_message *m) {
    struct node *n = &w->nodes[m->to];
    uint64_t *from = m->from != HOME ? &n->from_peers : m->to == HOME ? &n->from_nvm : &n->from_home;
    ++*from;
}

void cache_receive(struct pages_world *w, const struct flight *in) {
    const struct pages_message *m = &in->m;
    struct node *n = &w->nodes[m->to];
    struct pages_effects e;
    if (m->kind == PAGES_ANSWER) {
        n->window++;
        app_answered(w, m->to);
        return;
    }
    must(n->where[m->page] != 0, "a message for a page that has no frame");
    uint32_t frame = n->where[m->page] - 1;
    struct frame *f = &n->frames[frame];
    bool was_asking = pages_control_is_asking(&f->control);
    must(pages_control_receive(&f->control, m, &e) == 0, "a message that the cache does not expect");
    if (m->kind == PAGES_DATA) {
        f->version = in->version;
        count_data(w, m);
    }
    if (e.actions & PAGES_FRAME_APPLY) {
        must(f->version == w->latest[m->page], "a small operation on an old copy");
        if (m->flags & PAGES_WRITES)
            world_written(w, m->page, m->to, &f->version);
    }
    settle(w, m->to, frame, was_asking, &e, in->bytes);
    cache_make_room(w, m->to);
}

/* ---- eviction ---- */

struct owner { /* of frames */
    const struct pages_world *world;
    uint32_t node;
};

static bool is_only(void *arg, uint32_t frame) {
    const struct owner *o = arg;
    const struct pages_control *c = &o->world->nodes[o->node].frames[frame].control;
    uint32_t nodes = o->world->plan.coop ? o->world->plan.nodes : 1;
    return c->state == PAGES_E || c->state == PAGES_M ||
           pages_replace_is_keeper(c->home, c->page, nodes, o->node);
}

static bool evict_one(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    struct pages_effects e;
    struct owner owner = {.world = w, .node = node};
    uint32_t frame;
    for (uint32_t tries = 0; tries < 2 * w->plan.machine.frames && n->window > 0; tries++) {
        if (!pages_replace_propose(&n->replace, n->links, is_only, &owner, &frame))
            return false;
        struct frame *f = &n->frames[frame];
        bool was_asking = pages_control_is_asking(&f->control);
        if (!pages_control_evict(&f->control, &e))
            continue;
        f->leaving = true;
        n->leaving++;
        settle(w, node, frame, was_asking, &e, 0);
        return true;
    }
    return false;
}

void cache_make_room(struct pages_world *w, uint32_t node) {
    struct node *n = &w->nodes[node];
    while (n->free_count + n->leaving < wanted_free(w) && evict_one(w, node))
        ;
}

/* Called when nothing is in flight. */
void cache_check(const struct pages_world *w, uint32_t node) {
    const struct node *n = &w->nodes[node];
    uint32_t held = 0;
    must(pages_replace_check(&n->replace, n->links), "the lists of the pool");
    must(n->window == PAGES_WINDOW, "a request that never ended");
    must(!n->leaving, "a copy that never left");
    for (uint32_t page = 0; page < w->plan.pages; page++) {
        if (!n->where[page])
            continue;
        const struct frame *f = &n->frames[n->where[page] - 1];
        pages_control_check(&f->control);
        must(pages_control_is_idle(&f->control), "a page with an operation in flight");
        must(f->version == w->latest[page], "an old copy that can be read");
        must(pages_directory_holds(w->directory, page, node), "a copy that the directory does not know");
        held++;
    }
    must(held + n->free_count == w->plan.machine.frames, "a frame was lost");
}
