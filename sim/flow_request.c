/* flow_request.c: request-allocate and request-release, models of Sect. 4.4.2 of the paper.
 *
 *      allocate   REQUEST -> (allocated: ANSWER yes | no memory: ANSWER no, ask again later) -> DATA -> ACK
 *      release    REQUEST -> (waits for a buffer of the pool) ANSWER -> DATA -> ACK ... -> RELEASE
 *
 * For each client the helper keeps a slot for one message without data; the rest of the budget is for data. An
 * operation that fits into a buffer is one message, so it takes one round trip more than with credits; a longer
 * one goes through the same buffer piece by piece. request-allocate takes as much memory as the operation is
 * long.
 *
 * The helper executes messages in the order of arrival. */
#include <stdlib.h>

#include "base/random.h"
#include "flow.h"
#include "need.h"

struct fifo {
    uint32_t *items;
    size_t first, count, room; /* room: a power of two */
};

struct requests {
    bool pooled;
    struct fifo here;    /* parcels to be executed */
    struct fifo waiting; /* release: clients without a buffer */
    uint32_t parcel;     /* in execution */
    uint64_t room;       /* bytes for data */
    uint64_t taken, most;
    uint64_t refused, retries;
};

static void fifo_add(struct fifo *f, uint32_t item) {
    if (f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 64;
        uint32_t *items = need(malloc(room * sizeof *items));
        for (size_t i = 0; i < f->count; i++)
            items[i] = f->items[(f->first + i) & (f->room - 1)];
        free(f->items);
        *f = (struct fifo){.items = items, .count = f->count, .room = room};
    }
    f->items[(f->first + f->count++) & (f->room - 1)] = item;
}

static bool fifo_take(struct fifo *f, uint32_t *item) {
    if (!f->count)
        return false;
    *item = f->items[f->first];
    f->first = (f->first + 1) & (f->room - 1);
    f->count--;
    return true;
}

static void open_with(struct world *w, bool pooled) {
    struct requests *s = need(calloc(1, sizeof *s));
    uint64_t headers = (uint64_t)w->setup.clients * HEADER;
    w->state = s;
    s->pooled = pooled;
    s->room = w->setup.budget > headers ? w->setup.budget - headers : 0;
    must(s->room >= w->setup.pool_bytes, "the budget has no room for one buffer");
    must(!w->setup.gets, "gets are only for credits and intimation");
}

static void open_allocate(struct world *w) {
    open_with(w, false);
}

static void open_release(struct world *w) {
    open_with(w, true);
}

static void close_all(struct world *w) {
    struct requests *s = w->state;
    free(s->here.items);
    free(s->waiting.items);
    free(s);
}

/* ---- a client ---- */

static uint64_t size_of_buffer(const struct world *w, const struct client *c) {
    const struct requests *s = w->state;
    return s->pooled ? w->setup.pool_bytes : c->bytes;
}

static void say(struct world *w, enum parcel_kind kind, uint32_t client) {
    uint32_t p = parcel_new(w, kind, client);
    w->parcels[p].wanted = size_of_buffer(w, &w->clients[client]);
    parcel_send(w, p);
}

/* One message at a time: a buffer must be granted, and free again. */
static bool go(struct world *w, uint32_t client) {
    struct client *c = &w->clients[client];
    if (c->left == c->bytes && !c->granted) {
        if (!c->asking)
            say(w, PARCEL_REQUEST, client);
        c->asking = true;
        return false;
    }
    if (c->left != c->unacknowledged)
        return false;
    uint64_t buffer = size_of_buffer(w, c), bytes = c->left < buffer ? c->left : buffer;
    c->left -= bytes;
    pack(w, parcel_new(w, PARCEL_DATA, client), bytes);
    return true;
}

static void be_refused(struct world *w, uint32_t client) {
    struct requests *s = w->state;
    struct client *c = &w->clients[client];
    double longest = w->setup.costs.retry * (double)(1u << (c->refused < 6 ? c->refused : 6));
    c->refused++;
    s->retries++;
    retry_later(w, client, longest * (0.5 + (double)random_below(&w->random, 1024) / 2048));
}

static void client_hears(struct world *w, const struct parcel *p) {
    const struct requests *s = w->state;
    struct client *c = &w->clients[p->client];
    if (p->kind == PARCEL_ANSWER) {
        c->asking = false;
        c->granted = p->yes;
        if (p->yes)
            c->refused = 0;
        else {
            c->asking = true; /* until it tries again */
            be_refused(w, p->client);
        }
        return;
    }
    bool all = c->unacknowledged == p->wanted;
    if (all) {
        c->granted = false;
        if (s->pooled)
            say(w, PARCEL_RELEASE, p->client);
    }
    acknowledge_bytes(w, p->client, p->wanted);
}

/* ---- the helper ---- */

static void helper_hears(struct world *w, uint32_t parcel) {
    struct requests *s = w->state;
    fifo_add(&s->here, parcel);
}

static bool next(struct world *w, double *ns) {
    struct requests *s = w->state;
    const struct costs *k = &w->setup.costs;
    if (!fifo_take(&s->here, &s->parcel))
        return false;
    const struct parcel *p = &w->parcels[s->parcel];
    *ns = serve_time(w, p->payload);
    if (p->kind == PARCEL_REQUEST && !s->pooled)
        *ns += k->allocate + (double)p->wanted * k->fault_per_byte;
    return true;
}

static void answer(struct world *w, uint32_t client, bool yes) {
    uint32_t p = parcel_new(w, PARCEL_ANSWER, client);
    w->parcels[p].yes = yes;
    parcel_send(w, p);
}

static bool take_room(struct requests *s, uint64_t bytes) {
    if (s->taken + bytes > s->room)
        return false;
    s->taken += bytes;
    s->most = s->taken > s->most ? s->taken : s->most;
    return true;
}

static void do_request(struct world *w, uint32_t client, uint64_t bytes) {
    struct requests *s = w->state;
    if (take_room(s, bytes)) {
        answer(w, client, true);
    } else if (s->pooled) {
        fifo_add(&s->waiting, client);
    } else {
        s->refused++;
        answer(w, client, false);
    }
}

static void do_release(struct world *w, uint64_t bytes) {
    struct requests *s = w->state;
    uint32_t client;
    must(s->taken >= bytes, "more is released than was taken");
    s->taken -= bytes;
    if (s->waiting.count && take_room(s, bytes) && fifo_take(&s->waiting, &client))
        answer(w, client, true);
}

static void do_data(struct world *w, uint32_t client, uint64_t bytes) {
    struct requests *s = w->state;
    count_served(w, client, bytes);
    if (!s->pooled)
        s->taken -= bytes; /* the buffer holds a whole operation */
    uint32_t p = parcel_new(w, PARCEL_ACK, client);
    w->parcels[p].wanted = bytes;
    parcel_send(w, p);
}

static void did(struct world *w) {
    struct requests *s = w->state;
    struct parcel p = w->parcels[s->parcel];
    parcel_end(w, s->parcel);
    if (p.kind == PARCEL_REQUEST)
        do_request(w, p.client, p.wanted);
    else if (p.kind == PARCEL_RELEASE)
        do_release(w, p.wanted);
    else
        do_data(w, p.client, p.payload);
}

static void memory(const struct world *w, uint64_t *fixed, uint64_t *most) {
    const struct requests *s = w->state;
    *fixed = (uint64_t)w->setup.clients * HEADER;
    *most = s->most;
}

static void count(const struct world *w, struct flow_result *r) {
    const struct requests *s = w->state;
    r->refused = s->refused;
    r->retries = s->retries;
    must(!s->taken && !s->waiting.count && !s->here.count, "a buffer was lost");
}

const struct scheme flow_allocate = {.name = "allocate",
                                     .open = open_allocate,
                                     .close = close_all,
                                     .go = go,
                                     .client_hears = client_hears,
                                     .helper_hears = helper_hears,
                                     .next = next,
                                     .did = did,
                                     .memory = memory,
                                     .count = count};

const struct scheme flow_release_ = {.name = "release",
                                     .open = open_release,
                                     .close = close_all,
                                     .go = go,
                                     .client_hears = client_hears,
                                     .helper_hears = helper_hears,
                                     .next = next,
                                     .did = did,
                                     .memory = memory,
                                     .count = count};
