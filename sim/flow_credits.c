/* flow_credits.c: the real schemes: src/net/rpc/flow.c decides which client may send, and this file only carries
 * messages.
 *
 * Clients and the helper communicate through parcels only, as over a network: a client knows of the helper only
 * what its acknowledgements say. After every run all credits must be returned and all pool buffers free. */
#include <stdlib.h>

#include "flow.h"
#include "scale/heap_use.h"
#include "need.h"

#include "net/rpc/arena.h"
#include "net/rpc/rpc_engine.h"

enum { REQUEST_BYTES = 64 /* of a get: source address and shape */ };

struct lane {         /* a client that has sent a block */
    uint32_t *on_way; /* ring by number: bytes */
    uint32_t *own;    /* by buffer: delivered parcels */
};

struct credits {
    struct flow_helper *helper;
    struct lane *lanes;
    uint32_t pooled[FLOW_POOL]; /* delivered parcels */
    struct flow_turn turn;
    uint32_t parcel;  /* of this turn */
    uint64_t records; /* bytes that the helper has allocated for clients that have sent */
};

static void open_with(struct world *w, bool size_hint) {
    struct credits *s = need(calloc(1, sizeof *s));
    w->state = s;
    w->setup.limits.size_hint = size_hint;
    if (!size_hint)
        w->setup.limits.pool_buffers = 0;
    s->lanes = need(calloc(w->setup.clients, sizeof *s->lanes));
    must(net_flow_helper_open(&w->setup.limits, w->setup.clients, &s->helper) == 0,
         "these buffers are refused by flow.c");
}

static void open_credits(struct world *w) {
    open_with(w, false);
}

static void open_intimation(struct world *w) {
    open_with(w, true);
}

static struct lane *lane_of(struct world *w, uint32_t client) {
    struct credits *s = w->state;
    struct lane *l = &s->lanes[client];
    if (l->own)
        return l;
    must(net_flow_client_open(&w->clients[client].flow, &w->setup.limits) == 0, "no memory for a client");
    l->on_way = need(calloc(w->clients[client].flow.ring, sizeof *l->on_way));
    l->own = need(calloc(w->setup.limits.buffers, sizeof *l->own));
    return l;
}

/* ---- a client ---- */

static void give_back(struct world *w, uint32_t client) {
    uint64_t pool_buffers = net_flow_give_back(&w->clients[client].flow);
    if (!pool_buffers)
        return;
    uint32_t p = parcel_new(w, PARCEL_NOTE, client);
    w->parcels[p].ticket.pool_buffers = pool_buffers;
    parcel_send(w, p);
}

static bool go(struct world *w, uint32_t client) {
    struct lane *l = lane_of(w, client);
    struct client *c = &w->clients[client];
    struct flow_ticket ticket;
    size_t room;
    if (!net_flow_take(&c->flow, w->setup.gets, c->left, &ticket, &room))
        return false;
    uint64_t bytes = room < c->left ? room : c->left;
    c->left -= bytes;
    if (!c->left)
        ticket.following = 0;
    l->on_way[ticket.number & (c->flow.ring - 1)] = (uint32_t)bytes;
    uint32_t p = parcel_new(w, PARCEL_BLOCK, client);
    w->parcels[p].ticket = ticket;
    w->parcels[p].wanted = bytes;
    pack(w, p, w->setup.gets ? REQUEST_BYTES : bytes);
    return true;
}

/* For an accumulate. A get completes when its data is delivered, which may be later than its acknowledgement. */
static void take_ack(struct world *w, uint32_t client, const struct flow_ack *ack) {
    struct client *c = &w->clients[client];
    struct lane *l = lane_of(w, client);
    uint32_t before = c->flow.done;
    uint64_t bytes = 0;
    must(net_flow_acknowledge(&c->flow, ack) == 0, "an acknowledgement that makes no sense");
    for (uint32_t number = before; number != c->flow.done; number++)
        bytes += l->on_way[number & (c->flow.ring - 1)];
    if (!w->setup.gets)
        acknowledge_bytes(w, client, bytes);
}

static void client_hears(struct world *w, const struct parcel *p) {
    take_ack(w, p->client, &p->ack);
    if (p->payload)
        acknowledge_bytes(w, p->client, p->payload);
    if (!w->clients[p->client].left)
        give_back(w, p->client);
}

/* ---- the helper ---- */

static void helper_hears(struct world *w, uint32_t parcel) {
    struct credits *s = w->state;
    const struct parcel *p = &w->parcels[parcel];
    struct flow_place place;
    if (p->kind == PARCEL_NOTE) {
        must(net_flow_returned(s->helper, p->client, p->ticket.pool_buffers) == 0,
             "a note that makes no sense");
        parcel_end(w, parcel);
        return;
    }
    bool first = !w->clients[p->client].has_spoken;
    size_t before = first ? heap_in_use() : 0;
    must(net_flow_arrive(s->helper, p->client, &p->ticket, &place) == 0, "a block that flow.c refuses");
    if (first)
        s->records += heap_in_use() - before + sizeof(struct server_client);
    w->clients[p->client].has_spoken = true;
    if (place.pooled)
        s->pooled[place.index] = parcel;
    else
        s->lanes[p->client].own[place.index] = parcel;
}

static bool next(struct world *w, double *ns) {
    struct credits *s = w->state;
    if (!net_flow_turn(s->helper, &s->turn))
        return false;
    const struct flow_place *place = &s->turn.place;
    s->parcel = place->pooled ? s->pooled[place->index] : s->lanes[s->turn.client].own[place->index];
    *ns = serve_time(w, w->parcels[s->parcel].wanted);
    return true;
}

static void did(struct world *w) {
    struct credits *s = w->state;
    uint32_t client = s->turn.client;
    uint64_t bytes = w->parcels[s->parcel].wanted, answers = s->turn.ticket.pool_buffers;
    struct flow_ack ack;
    bool says = net_flow_done(s->helper, client, w->setup.gets, &ack);
    parcel_end(w, s->parcel);
    count_served(w, client, bytes);
    if (says) {
        uint32_t p = parcel_new(w, PARCEL_ACK, client);
        w->parcels[p].ack = ack;
        w->parcels[p].payload = w->setup.gets ? bytes : 0;
        parcel_send(w, p);
    }
    if (w->setup.gets && answers && s->turn.ticket.flags & FLOW_OWN)
        call_when_left(w, answers);
}

static void left(struct world *w, uint64_t pool_buffers) {
    struct credits *s = w->state;
    net_flow_release(s->helper, pool_buffers);
}

/* ---- the end ---- */

static void memory(const struct world *w, uint64_t *fixed, uint64_t *most) {
    const struct credits *s = w->state;
    *fixed = net_arena_bytes(&w->setup.limits, w->setup.clients, net_server_header());
    *most = s->records + w->setup.clients * 2 * sizeof(void *);
}

static void count_flow(const struct world *w, struct flow_result *r) {
    const struct credits *s = w->state;
    struct flow_counts counts = net_flow_helper_counts(s->helper);
    r->granted = counts.granted;
    r->refused = counts.refused;
    r->acks = counts.acks;
    net_flow_helper_check(s->helper);
    for (uint32_t i = 0; i < w->setup.clients; i++) {
        const struct flow_client *c = &w->clients[i].flow;
        if (!s->lanes[i].own)
            continue;
        net_flow_client_check(c);
        must(net_flow_is_idle(c) && c->credits == w->setup.limits.buffers && !c->grant, "a credit was lost");
    }
}

static void close_all(struct world *w) {
    struct credits *s = w->state;
    for (uint32_t i = 0; i < w->setup.clients; i++) {
        if (s->lanes[i].own)
            net_flow_client_close(&w->clients[i].flow);
        free(s->lanes[i].own);
        free(s->lanes[i].on_way);
    }
    net_flow_helper_close(s->helper);
    free(s->lanes);
    free(s);
}

const struct scheme flow_credits = {.name = "credits",
                                    .open = open_credits,
                                    .close = close_all,
                                    .go = go,
                                    .client_hears = client_hears,
                                    .helper_hears = helper_hears,
                                    .next = next,
                                    .did = did,
                                    .left = left,
                                    .memory = memory,
                                    .count = count_flow};

const struct scheme flow_intimation = {.name = "intimation",
                                       .open = open_intimation,
                                       .close = close_all,
                                       .go = go,
                                       .client_hears = client_hears,
                                       .helper_hears = helper_hears,
                                       .next = next,
                                       .did = did,
                                       .left = left,
                                       .memory = memory,
                                       .count = count_flow};
