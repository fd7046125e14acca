/* pages_world.c: messages between the nodes, time, and the invariants. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "need.h"
#include "options.h"
#include "pages_sim.h"

enum { HEADER = 64, NO_FLIGHT = UINT32_MAX, SLIP = 4096 };

void world_at(struct pages_world *w, uint64_t when, uint32_t kind, uint32_t who, uint64_t what) {
    events_add(&w->events, when, kind, who, what);
}

uint64_t world_copy_ns(const struct pages_world *w) {
    return (uint64_t)((double)w->plan.machine.page_bytes / w->plan.machine.copy_bandwidth * 1e9);
}

/* No other node may be able to read while this one writes. */
void world_written(struct pages_world *w, uint32_t page, uint32_t writer, uint64_t *version) {
    must(*version == w->latest[page], "a write into an old copy");
    for (uint32_t i = 0; i < w->plan.nodes; i++) {
        const struct node *n = &w->nodes[i];
        const struct pages_control *c = n->where[page] ? &n->frames[n->where[page] - 1].control : NULL;
        must(i == writer || !c || c->state == PAGES_I || c->open == PAGES_PUT,
             "a writer while another has a copy");
    }
    *version = w->latest[page] = ++w->versions;
    w->writes++;
}

/* ---- messages ---- */

static uint32_t flight_new(struct pages_world *w) {
    uint32_t i = w->free_flight;
    if (i != NO_FLIGHT) {
        w->free_flight = w->flights[i].next;
        return i;
    }
    if (w->flight_count == w->flight_room) {
        w->flight_room = w->flight_room ? 2 * w->flight_room : 256;
        w->flights = need(realloc(w->flights, w->flight_room * sizeof *w->flights));
    }
    return w->flight_count++;
}

static uint32_t to_of(const struct pages_message *m) {
    return pages_is_for_home((enum pages_kind)m->kind) ? m->home : m->to;
}

/* Inside a node a page is read into its frame, and written from there: only the message itself is sent. */
static uint64_t bytes_of(const struct pages_world *w, const struct flight *f) {
    bool page = f->m.kind == PAGES_DATA || (f->m.kind == PAGES_WRITEBACK_DATA && f->m.flags & PAGES_DIRTY);
    bool travels = page && f->m.from != to_of(&f->m);
    if (f->raw)
        travels = f->raw == 2 && w->plan.pattern != FALSE_SHARING && w->plan.pattern != THIRD;
    return HEADER + f->bytes + (travels ? w->plan.machine.page_bytes : 0);
}

/* The time at which the message just sent has left its NIC: its frame or buffer is then free again. */
static uint64_t left_at(const struct pages_world *w, uint32_t from, uint32_t to) {
    uint64_t now = w->events.now, busy = from == to ? now : w->network.out[from];
    return busy > now ? busy : now;
}

void world_send(struct pages_world *w, const struct flight *f) {
    uint32_t i, from = f->m.from, to = f->raw ? f->m.to : to_of(&f->m);
    if (w->at_once && from == HOME && to == HOME && pages_class_of((enum pages_kind)f->m.kind) == PAGES_REQ &&
        !f->raw) {
        home_queue(w, &f->m);
        return;
    }
    i = flight_new(w);
    w->flights[i] = *f;
    uint64_t head = network_send(&w->network, w->events.now, from, to, bytes_of(w, f));
    world_at(w, head, EVENT_HEAD, to, i);
    if (f->frame)
        world_at(w, left_at(w, from, to), EVENT_LEFT, from, (uint64_t)f->frame << 1);
    if (f->work)
        world_at(w, left_at(w, from, to), EVENT_LEFT, from, (uint64_t)f->work << 1 | 1);
}

static void left(struct pages_world *w, uint32_t node, uint64_t what) {
    if (what & 1)
        home_left(w, (uint32_t)(what >> 1) - 1);
    else
        cache_left(w, node, (uint32_t)(what >> 1) - 1);
}

static void head_is_here(struct pages_world *w, uint32_t to, uint32_t i) {
    const struct flight *f = &w->flights[i];
    world_at(w, network_receive(&w->network, w->events.now, f->m.from, to, bytes_of(w, f)), EVENT_TAIL, to,
             i);
}

/* The node's service handles it after all earlier messages. Messages that the NIC handles alone do not wait. */
static void tail_is_here(struct pages_world *w, uint32_t to, uint32_t i) {
    struct node *n = &w->nodes[to];
    uint64_t now = w->events.now;
    if (!w->flights[i].raw || w->plan.served) {
        n->service_busy =
            (n->service_busy > now ? n->service_busy : now) + (uint64_t)(1e3 * w->plan.machine.service_us);
        now = n->service_busy;
    }
    world_at(w, now, EVENT_HANDLE, to, i);
}

static void answer_raw(struct pages_world *w, const struct flight *f) {
    struct flight answer = {.m = {.from = HOME, .to = f->m.from}, .raw = 2};
    if (f->raw == 2)
        app_answered(w, f->m.to);
    else
        world_send(w, &answer);
}

static void handle(struct pages_world *w, uint32_t to, uint32_t i) {
    struct flight f = w->flights[i];
    w->flights[i].next = w->free_flight;
    w->free_flight = i;
    if (f.raw)
        answer_raw(w, &f);
    else if (pages_is_for_home((enum pages_kind)f.m.kind))
        home_receive(w, &f);
    else {
        must(f.m.to == to, "a message that went astray");
        cache_receive(w, &f);
    }
}

/* ---- the run ---- */

static void happen(struct pages_world *w, const struct event *e) {
    switch (e->kind) {
    case EVENT_HEAD:
        head_is_here(w, e->who, (uint32_t)e->what);
        break;
    case EVENT_TAIL:
        tail_is_here(w, e->who, (uint32_t)e->what);
        break;
    case EVENT_HANDLE:
        handle(w, e->who, (uint32_t)e->what);
        break;
    case EVENT_LEFT:
        left(w, e->who, e->what);
        break;
    case EVENT_IO:
        home_finished_io(w, (uint32_t)e->what);
        break;
    case EVENT_APP:
        app_go(w, e->who);
        break;
    default:
        app_copied(w, e->who);
    }
}

static void open_world(struct pages_world *w, const struct plan *plan) {
    const struct machine *m = &plan->machine;
    *w = (struct pages_world){.plan = *plan, .free_flight = NO_FLIGHT};
    events_open(&w->events);
    network_open(&w->network, plan->nodes, m->latency_us, m->bandwidth, m->copy_bandwidth);
    w->network.slip = SLIP;
    random_seed(&w->random, plan->seed);
    /* struct ahead is aligned to cache lines */
    w->nodes = need(aligned_alloc(64, plan->nodes * sizeof *w->nodes));
    memset(w->nodes, 0, plan->nodes * sizeof *w->nodes);
    home_open(w);
    for (uint32_t i = 0; i < plan->nodes; i++)
        cache_open(w, i);
    for (uint32_t i = 0; i < plan->nodes; i++)
        app_open(w, i);
}

static void close_world(struct pages_world *w) {
    for (uint32_t i = 0; i < w->plan.nodes; i++) {
        cache_close(w, i);
        free(w->nodes[i].order);
    }
    home_close(w);
    free(w->nodes);
    free(w->flights);
    network_close(&w->network);
    events_close(&w->events);
}

/* Checks that all is done, nothing is in flight, the directory and the copies agree, and the newest version of
 * each page exists. */
static void check_end(const struct pages_world *w) {
    must(w->over == w->plan.nodes, "nodes that wait for ever");
    if (w->plan.raw)
        return;
    must(pages_directory_is_idle(w->directory) && !w->works_taken, "a transaction that never ended");
    pages_directory_check(w->directory);
    for (uint32_t i = 0; i < w->plan.nodes; i++)
        cache_check(w, i);
    for (uint32_t page = 0; page < w->plan.pages; page++) {
        enum pages_known known = pages_directory_look(w->directory, page).known;
        must(known == PAGES_EXCLUSIVE || known == PAGES_OWNED_SHARED || w->nvm[page] == w->latest[page],
             "what was written last is lost");
    }
    must(w->plan.pattern != FALSE_SHARING || w->writes == (uint64_t)w->plan.puts * w->plan.nodes,
         "a put was lost");
}

static void collect(const struct pages_world *w, struct pages_result *r) {
    uint64_t end = 0, longest = 0, operations = 0;
    double in_all = 0, sum = 0, squares = 0;
    uint32_t first = w->plan.pattern == THIRD ? THIRD_NODE : 0;
    for (uint32_t i = first; i < w->plan.nodes; i++) {
        const struct node *n = &w->nodes[i];
        end = n->finished > end ? n->finished : end;
        longest = n->longest > longest ? n->longest : longest;
        operations += n->at;
        in_all += (double)(n->finished - n->started);
        double rate = n->at / (double)(n->finished - n->started);
        sum += rate;
        squares += rate * rate;
        r->hits += n->hits;
        r->smalls += n->smalls;
        r->from_nvm += n->from_nvm;
        r->from_home += n->from_home;
        r->from_peers += n->from_peers;
        r->evicted += n->evicted;
    }
    r->seconds = (double)(end - w->nodes[w->plan.nodes - 1].started) / 1e9;
    r->operations_per_second = (double)operations / r->seconds;
    r->bandwidth =
        w->plan.pattern >= FALSE_SHARING ? 0 : (double)w->plan.machine.page_bytes * r->operations_per_second;
    r->mean_us = in_all / 1e3 / (double)operations;
    r->longest_us = (double)longest / 1e3;
    r->disk_share = (double)w->disk_work / (double)w->events.now;
    r->fairness = sum * sum / (squares * (w->plan.nodes - first));
    r->nvm_reads = w->nvm_reads;
    r->nvm_writes = w->nvm_writes;
    r->messages = w->network.messages - w->messages_before;
    r->bytes = w->network.bytes;
}

void pages_run(const struct plan *plan, const char *title, struct pages_result *r) {
    struct pages_world w;
    struct event e;
    *r = (struct pages_result){0};
    open_world(&w, plan);
    while (events_next(&w.events, &e)) {
        happen(&w, &e);
        if (w.events.taken % 65536 == 0)
            progress(title, (double)w.nodes[plan->nodes - 1].at /
                                (plan->pattern >= FALSE_SHARING ? plan->puts : plan->pages));
    }
    progress_end();
    check_end(&w);
    collect(&w, r);
    close_world(&w);
}
