/* flow_world.c: clients, messages and the helper's time. The schemes decide what may be sent. */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "need.h"
#include "options.h"

enum { HEAD, TAIL, PACKED, DID, BEGIN, RETRY, LEFT };
enum { NO_PARCEL = UINT32_MAX, HELPER_NODE = 0 };

/* ---- messages ---- */

uint32_t parcel_new(struct world *w, enum parcel_kind kind, uint32_t client) {
    uint32_t i = w->free_parcel;
    if (i != NO_PARCEL) {
        w->free_parcel = w->parcels[i].next_free;
    } else {
        if (w->parcel_count == w->parcel_room) {
            w->parcel_room = w->parcel_room ? 2 * w->parcel_room : 1024;
            w->parcels = need(realloc(w->parcels, w->parcel_room * sizeof *w->parcels));
        }
        i = w->parcel_count++;
    }
    w->parcels[i] = (struct parcel){.kind = kind, .client = client};
    return i;
}

void parcel_end(struct world *w, uint32_t i) {
    w->parcels[i].next_free = w->free_parcel;
    w->free_parcel = i;
}

static uint32_t node_of(const struct world *w, uint32_t client) {
    return 1 + client / w->setup.ranks_per_node;
}

static bool is_for_helper(const struct parcel *p) {
    return p->kind != PARCEL_ACK && p->kind != PARCEL_ANSWER;
}

void parcel_send(struct world *w, uint32_t i) {
    const struct parcel *p = &w->parcels[i];
    uint32_t client = node_of(w, p->client), from = is_for_helper(p) ? client : HELPER_NODE;
    uint32_t to = from == client ? HELPER_NODE : client;
    events_add(&w->events, network_send(&w->network, w->events.now, from, to, HEADER + p->payload), HEAD, 0,
               i);
}

static void head_is_here(struct world *w, uint32_t i) {
    const struct parcel *p = &w->parcels[i];
    uint32_t client = node_of(w, p->client);
    bool up = is_for_helper(p);
    uint64_t at = network_receive(&w->network, w->events.now, up ? client : HELPER_NODE,
                                  up ? HELPER_NODE : client, HEADER + p->payload);
    events_add(&w->events, at, TAIL, 0, i);
}

/* ---- clients ---- */

static void begin(struct world *w, uint32_t client) {
    struct client *c = &w->clients[client];
    must(!c->left && !c->unacknowledged && c->operations, "an operation begins before the last is over");
    c->operations--;
    c->left = c->unacknowledged = c->bytes;
    c->began = w->events.now;
    w->begun++;
    client_go(w, client);
}

void client_go(struct world *w, uint32_t client) {
    struct client *c = &w->clients[client];
    if (!c->packing && c->left)
        c->packing = w->scheme->go(w, client);
}

void pack(struct world *w, uint32_t parcel, uint64_t bytes) {
    const struct costs *k = &w->setup.costs;
    double ns = k->block + (double)bytes * k->pack_per_byte;
    w->parcels[parcel].payload = bytes;
    events_add(&w->events, w->events.now + (uint64_t)ns, PACKED, w->parcels[parcel].client, parcel);
}

static void plan_next(struct world *w, uint32_t client) {
    struct client *c = &w->clients[client];
    if (!c->operations)
        return;
    uint64_t pause = c->pause ? random_next(&w->random) % (2 * c->pause + 1) : 0;
    events_add(&w->events, w->events.now + pause, BEGIN, client, 0);
}

void acknowledge_bytes(struct world *w, uint32_t client, uint64_t bytes) {
    struct client *c = &w->clients[client];
    must(bytes <= c->unacknowledged, "more is acknowledged than was sent");
    c->unacknowledged -= bytes;
    if (c->unacknowledged || !bytes)
        return;
    must(!c->left, "an operation is over before all of it was sent");
    uint64_t took = w->events.now - c->began;
    c->longest = took > c->longest ? took : c->longest;
    c->in_all += took;
    c->finished = w->events.now;
    c->done++;
    w->over++;
    plan_next(w, client);
}

void retry_later(struct world *w, uint32_t client, double ns) {
    events_add(&w->events, w->events.now + (uint64_t)ns, RETRY, client, 0);
}

/* ---- the helper ---- */

double serve_time(const struct world *w, uint64_t bytes) {
    return w->setup.costs.serve + (double)bytes * w->setup.costs.do_per_byte;
}

static void wake_helper(struct world *w) {
    double ns;
    if (w->working || !w->scheme->next(w, &ns))
        return;
    w->working = true;
    if (w->asleep)
        ns += w->setup.costs.wake;
    w->asleep = false;
    w->helper_busy += (uint64_t)ns;
    events_add(&w->events, w->events.now + (uint64_t)ns, DID, 0, 0);
}

static void helper_did(struct world *w) {
    w->working = false;
    w->scheme->did(w);
    wake_helper(w);
    w->asleep = !w->working;
}

void call_when_left(struct world *w, uint64_t what) {
    uint64_t busy = w->network.out[HELPER_NODE];
    events_add(&w->events, busy > w->events.now ? busy : w->events.now, LEFT, 0, what);
}

/* Jain's index: 1 if all are equal, 1/n if one has everything. */
struct jain {
    double sum, squares;
    uint64_t count;
};

static void jain_add(struct jain *j, double value) {
    j->sum += value;
    j->squares += value * value;
    j->count++;
}

static double jain_index(const struct jain *j) {
    return j->squares > 0 ? j->sum * j->sum / (j->squares * (double)j->count) : 1;
}

/* Of the bytes that the helper has executed for each so far, among clients with the same workload. */
static double fairness_now(const struct world *w) {
    struct jain j = {0};
    for (uint32_t i = 0; i < w->setup.clients; i++)
        if (w->clients[i].bytes && !w->clients[i].pause)
            jain_add(&j, (double)w->clients[i].served);
    return jain_index(&j);
}

void count_served(struct world *w, uint32_t client, uint64_t bytes) {
    uint64_t before = w->bytes_done;
    w->clients[client].served += bytes;
    w->bytes_done += bytes;
    if (before * 2 < w->bytes_in_all && w->bytes_done * 2 >= w->bytes_in_all)
        w->half_fairness = fairness_now(w);
}

/* ---- the run ---- */

static void tail_is_here(struct world *w, uint32_t i) {
    if (is_for_helper(&w->parcels[i])) {
        w->scheme->helper_hears(w, i);
        wake_helper(w);
        return;
    }
    struct parcel p = w->parcels[i];
    parcel_end(w, i);
    w->scheme->client_hears(w, &p);
    client_go(w, p.client);
}

static void packed(struct world *w, uint32_t client, uint32_t parcel) {
    w->clients[client].packing = false;
    parcel_send(w, parcel);
    client_go(w, client);
}

static void happen(struct world *w, const struct event *e) {
    switch (e->kind) {
    case HEAD:
        head_is_here(w, (uint32_t)e->what);
        break;
    case TAIL:
        tail_is_here(w, (uint32_t)e->what);
        break;
    case PACKED:
        packed(w, e->who, (uint32_t)e->what);
        break;
    case DID:
        helper_did(w);
        break;
    case BEGIN:
        begin(w, e->who);
        break;
    case RETRY:
        w->clients[e->who].asking = false;
        client_go(w, e->who);
        break;
    default:
        w->scheme->left(w, e->what);
    }
}

void world_open(struct world *w, const struct setup *setup, const struct scheme *scheme) {
    *w = (struct world){.setup = *setup, .scheme = scheme, .free_parcel = NO_PARCEL, .asleep = true};
    events_open(&w->events);
    network_open(&w->network, 1 + (setup->clients + setup->ranks_per_node - 1) / setup->ranks_per_node,
                 setup->latency_us, setup->bandwidth, setup->bandwidth);
    random_seed(&w->random, setup->seed);
    w->clients = need(calloc(setup->clients, sizeof *w->clients));
    scheme->open(w);
}

void world_plan(struct world *w, uint32_t client, uint32_t operations, uint64_t bytes, uint64_t pause) {
    struct client *c = &w->clients[client];
    c->operations = operations;
    c->bytes = bytes;
    c->pause = pause;
    w->wanted += operations;
    if (!pause)
        w->bytes_in_all += operations * bytes;
    plan_next(w, client);
}

/* Checks that nothing is lost, and that all clients have finished. */
static void check_end(const struct world *w) {
    must(w->over == w->wanted && w->begun == w->wanted, "operations that never ended");
    for (uint32_t i = 0; i < w->setup.clients; i++) {
        const struct client *c = &w->clients[i];
        must(!c->left && !c->unacknowledged && !c->packing && c->served == c->done * c->bytes,
             "bytes were lost, or done twice");
    }
}

static void collect(const struct world *w, struct flow_result *r) {
    struct jain rates = {0};
    uint64_t end = 0, longest = 0, small = 0;
    double in_all = 0, streamed = 0, streamed_until = 0;
    for (uint32_t i = 0; i < w->setup.clients; i++) {
        const struct client *c = &w->clients[i];
        if (!c->done)
            continue;
        end = c->finished > end ? c->finished : end;
        in_all += (double)c->in_all;
        uint64_t *most = c->pause ? &small : &longest;
        *most = c->longest > *most ? c->longest : *most;
        r->waits += (double)c->flow.waits;
        if (c->pause)
            continue;
        jain_add(&rates, (double)c->served / (double)c->finished);
        streamed += (double)c->served;
        streamed_until = (double)c->finished > streamed_until ? (double)c->finished : streamed_until;
    }
    r->seconds = (double)end / 1e9;
    r->bandwidth = streamed_until > 0 ? streamed / streamed_until * 1e9 : 0;
    r->fairness = jain_index(&rates);
    r->half_fairness = w->half_fairness;
    r->mean_us = in_all / (double)w->over / 1e3;
    r->longest_us = (double)longest / 1e3;
    r->small_longest_us = (double)small / 1e3;
    r->busy = (double)w->helper_busy / (double)w->events.now;
    r->messages = w->network.messages;
    r->operations = w->over;
    w->scheme->memory(w, &r->fixed, &r->most);
    w->scheme->count(w, r);
}

void world_run(struct world *w, const char *name, struct flow_result *r) {
    struct event e;
    *r = (struct flow_result){0};
    while (events_next(&w->events, &e)) {
        happen(w, &e);
        if (w->events.taken % 65536 == 0)
            progress(name, (double)w->over / (double)w->wanted);
    }
    progress_end();
    check_end(w);
    collect(w, r);
}

void world_close(struct world *w) {
    w->scheme->close(w);
    free(w->clients);
    free(w->parcels);
    network_close(&w->network);
    events_close(&w->events);
}
