/* flow.c: credits, grants and scheduling of blocks, as pure state.
 *
 * A client keeps little: how many own buffers are free, and which pool buffers it was granted. Own buffers form a
 * ring, and blocks are executed in the order of their numbers. So the next own buffer is free whenever there is a
 * credit. An acknowledgement says only how many blocks are done; a ring of bytes by number records which blocks in
 * flight are own.
 *
 * A helper keeps a pointer for each client, and a record only for clients from which a block has arrived:
 *
 *      order   ring by number: the location of the block of that number, if it has arrived
 *      own     by buffer: the ticket of the block in it
 *
 * Blocks may arrive in any order within the window (B + spares, the most that a client can have in flight), and are
 * executed in order. A client whose next block has arrived is in exactly one of three states: in the ready list, at
 * work (its turn was given out), or in the list of deferred clients. The lists are FIFO. So a ready client gets its
 * turn after at most one turn of each of the others, and idle clients cost nothing.
 *
 * Every pool buffer is in exactly one of four sets:
 *
 *      free -> granted to a client -> filled with a block -> free
 *                        |       \--> answering, until the helper says that the replies are sent -> free
 *                        \--> free: returned, by a note or with the last block
 *
 * A pool buffer leaves the client's grant when a block that uses it arrives. The rest of the grant is freed when the
 * last block is done: by then all blocks before it, which may have arrived after it, have taken theirs. Only then
 * may the client get another grant. So the acknowledgement that carries the new grant also covers all blocks in the
 * old one, and a client never has more than B + spares blocks in flight.
 *
 * Input from clients is validated so that it cannot harm others: a block for a buffer in use, or for a pool buffer
 * that the client was not granted, is rejected before any state changes. */
#include "net/rpc/flow.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/base.h"
#include "net/rpc/tally.h"

static uint32_t first_number; /* 0, except in tests */

void flow_number_from(uint32_t number) {
    first_number = number;
}

/* ---- both sides ---- */

static bool is_multiple(uint32_t bytes, uint32_t least) {
    return bytes >= least && bytes % 64 == 0;
}

static bool are_sound(const struct flow_limits *l) {
    return l->buffers >= 1 && l->buffers <= FLOW_BUFFERS && is_multiple(l->bytes, 64) &&
           l->spares <= FLOW_SPARES && (!l->spares || is_multiple(l->spare_bytes, l->bytes));
}

static uint64_t all_spares(const struct flow_limits *l) {
    return l->spares == 64 ? UINT64_MAX : (UINT64_C(1) << l->spares) - 1;
}

static uint64_t lowest(uint64_t set) {
    return set & (~set + 1);
}

static bool is_within(uint64_t part, uint64_t set) {
    return !(part & ~set);
}

/* The most blocks that a client can have in flight. */
static uint32_t window_of(const struct flow_limits *l) {
    return l->buffers + l->spares;
}

/* A power of two, so that numbers that wrap continue at the right index. */
static uint32_t ring_of(const struct flow_limits *l) {
    uint32_t ring = 1;
    while (ring < window_of(l))
        ring *= 2;
    return ring;
}

/* ---- a client ---- */

int flow_client_open(struct flow_client *c, const struct flow_limits *limits) {
    if (!are_sound(limits))
        return -EINVAL;
    uint8_t *kinds = calloc(ring_of(limits), 1);
    if (!kinds)
        return -ENOMEM;
    *c = (struct flow_client){.limits = *limits,
                              .sent = first_number,
                              .done = first_number,
                              .credits = limits->buffers,
                              .kinds = kinds,
                              .ring = ring_of(limits)};
    return 0;
}

void flow_client_close(struct flow_client *c) {
    free(c->kinds);
    c->kinds = NULL;
}

static bool must_wait(struct flow_client *c) {
    c->waits += !c->waiting; /* once per wait, however often it tries */
    c->waiting = true;
    return false;
}

static void take_own(struct flow_client *c, struct flow_ticket *t) {
    t->flags = FLOW_OWN;
    t->own = (uint16_t)c->next_own;
    if (++c->next_own == c->limits.buffers)
        c->next_own = 0;
    c->credits--;
}

/* Takes pool buffers from the grant: all of them for an answer, the lowest for a block. The rest is returned if the
 * operation ends with this block. */
static size_t take_spares(struct flow_client *c, bool fetch, uint64_t left, struct flow_ticket *t) {
    uint64_t landing = lowest(c->grant);
    size_t room = c->limits.spare_bytes;
    if (fetch)
        room *= (size_t)__builtin_popcountll(c->grant);
    if (fetch || left <= room || c->grant == landing) {
        t->flags |= FLOW_LAST;
        t->spares = c->grant;
    } else {
        t->spares = landing;
    }
    c->grant &= ~t->spares;
    c->partly = c->grant != 0;
    return room;
}

/* Bytes that neither this block nor the credits at hand will carry. */
static uint64_t beyond(struct flow_client *c, uint64_t left, size_t room) {
    uint64_t reach = room + (uint64_t)c->credits * c->limits.bytes;
    if (!c->limits.intimation || !c->limits.spares || c->grant || left <= reach)
        return 0;
    c->intimations++;
    return left - reach;
}

bool flow_take(struct flow_client *c, bool fetch, uint64_t left, struct flow_ticket *ticket, size_t *room) {
    bool own = fetch || !c->grant;
    if (UNLIKELY(own && !c->credits))
        return must_wait(c);
    c->waiting = false;
    struct flow_ticket t = {.number = c->sent};
    size_t bytes = c->limits.bytes;
    if (own)
        take_own(c, &t);
    if (c->grant)
        bytes = take_spares(c, fetch, left, &t);
    t.following = beyond(c, left, bytes);
    c->kinds[c->sent++ & (c->ring - 1)] = own;
    *ticket = t;
    *room = bytes;
    return true;
}

/* A client has one grant at a time, only after a size hint, and only once all blocks in pool buffers are done.
 * Otherwise more blocks could be in flight than the ring has room for. `own`, `on_way`: own blocks in flight, and
 * all. */
static bool may_be_granted(const struct flow_client *c, uint64_t spares, uint32_t own, uint32_t on_way) {
    return is_within(spares, all_spares(&c->limits)) && !c->grant && c->grants < c->intimations &&
           own == on_way;
}

int flow_acknowledge(struct flow_client *c, const struct flow_ack *ack) {
    uint32_t newly = ack->done - c->done, credits = c->credits;
    if ((int32_t)newly < 0)
        newly = 0; /* stale: a small message has overtaken a long one */
    if (newly > c->sent - c->done)
        return -EPROTO;
    uint32_t done = c->done + newly;
    for (uint32_t number = c->done; number != done; number++)
        credits += c->kinds[number & (c->ring - 1)];
    if (ack->granted) {
        if (!may_be_granted(c, ack->granted, c->limits.buffers - credits, c->sent - done))
            return -EPROTO;
        c->grant = ack->granted;
        c->grants++;
    }
    c->done = done;
    c->credits = credits;
    return 0;
}

uint64_t flow_give_back(struct flow_client *c) {
    if (c->partly) /* the operation that has begun to use the grant continues to its last block */
        return 0;
    uint64_t spares = c->grant;
    c->grant = 0;
    return spares;
}

/* ---- a helper ---- */

/* Location of a block: own buffer i as i + 1, pool buffer i as SPARE + i. */
enum { NOWHERE = 0, SPARE = 0x8000 };

enum turn { IDLE, READY, AT_WORK, PUT_OFF };
enum holding { NOTHING, WHOLE, PARTLY, CLOSED /* the last block has arrived */ };

struct peer { /* a client from which a block has arrived */
    struct peer *next;
    uint64_t grant;   /* granted pool buffers for which no block has arrived */
    uint64_t asked;   /* size hint of the newest block, or 0 */
    uint32_t client;  /* its number */
    uint32_t done;    /* blocks, wraps */
    uint32_t newest;  /* the highest number that has arrived, plus 1 */
    uint32_t last;    /* number of the last block of the grant, if CLOSED */
    uint32_t undone;  /* blocks that have arrived and are not done */
    uint32_t waiting; /* own blocks done and not acknowledged */
    uint8_t turn, holding;
    bool last_waits; /* the last block of a grant is done and not acknowledged */
    uint16_t *order;
    struct flow_ticket own[]; /* flags 0: the buffer is empty */
};

struct line {
    struct peer *first, **end;
};

struct flow_helper {
    struct flow_limits limits;
    uint32_t clients, window, mask; /* mask: of the rings */
    uint64_t free, filled, answering;
    struct line ready, put_off;
    uint32_t put_off_count;
    struct flow_counts counts;
    struct flow_ticket spare[FLOW_SPARES]; /* tickets of the blocks in them */
    struct peer *peers[];
};

int flow_helper_open(const struct flow_limits *limits, uint32_t clients, struct flow_helper **helper) {
    if (!are_sound(limits) || !clients)
        return -EINVAL;
    struct flow_helper *h = calloc(1, sizeof *h + (size_t)clients * sizeof(struct peer *));
    if (!h)
        return -ENOMEM;
    h->limits = *limits;
    h->clients = clients;
    h->window = window_of(limits);
    h->mask = ring_of(limits) - 1;
    h->free = all_spares(limits);
    h->ready.end = &h->ready.first;
    h->put_off.end = &h->put_off.first;
    *helper = h;
    return 0;
}

void flow_helper_close(struct flow_helper *h) {
    if (!h)
        return;
    for (uint32_t i = 0; i < h->clients; i++)
        free(h->peers[i]);
    free(h);
}

size_t flow_record(const struct flow_limits *limits) {
    return sizeof(struct peer) + limits->buffers * sizeof(struct flow_ticket) +
           ring_of(limits) * sizeof(uint16_t);
}

static struct peer *meet(struct flow_helper *h, uint32_t client) {
    struct peer *p = calloc(1, flow_record(&h->limits));
    if (!p)
        return NULL;
    p->order = (uint16_t *)&p->own[h->limits.buffers];
    p->client = client;
    p->done = p->newest = first_number;
    return h->peers[client] = p;
}

static uint16_t *slot_of(const struct flow_helper *h, const struct peer *p, uint32_t number) {
    return &p->order[number & h->mask];
}

static void line_up(struct line *line, struct peer *p, enum turn turn) {
    p->turn = (uint8_t)turn;
    p->next = NULL;
    *line->end = p;
    line->end = &p->next;
}

static struct peer *line_pop(struct line *line) {
    struct peer *p = line->first;
    if (p && !(line->first = p->next))
        line->end = &line->first;
    return p;
}

/* ---- arrival ---- */

/* The client holds the ticket's pool buffers, and the block does not follow the last one of the grant. */
static bool may_use(const struct peer *p, const struct flow_ticket *t) {
    if (!t->spares || !is_within(t->spares, p->grant))
        return false;
    return p->holding != CLOSED || (!(t->flags & FLOW_LAST) && (int32_t)(t->number - p->last) < 0);
}

static bool is_sound(const struct flow_helper *h, const struct peer *p, const struct flow_ticket *t) {
    if (t->flags & ~(FLOW_OWN | FLOW_LAST) || t->number - p->done >= h->window ||
        *slot_of(h, p, t->number) != NOWHERE)
        return false;
    if (!(t->flags & FLOW_OWN))
        return may_use(p, t) && (t->flags & FLOW_LAST || t->spares == lowest(t->spares));
    if (t->own >= h->limits.buffers || p->own[t->own].flags)
        return false;
    return t->flags & FLOW_LAST ? may_use(p, t) : !t->spares;
}

static struct flow_place place_of(uint16_t slot) {
    bool spare = slot & SPARE;
    return (struct flow_place){.spare = spare, .index = (uint32_t)(spare ? slot - SPARE : slot - 1)};
}

static uint16_t land_own(struct flow_helper *h, struct peer *p, const struct flow_ticket *t) {
    p->own[t->own] = *t;
    p->grant &= ~t->spares;
    h->answering |= t->spares;
    return (uint16_t)(t->own + 1);
}

static uint16_t land_spare(struct flow_helper *h, struct peer *p, const struct flow_ticket *t) {
    unsigned index = (unsigned)__builtin_ctzll(t->spares);
    uint64_t landing = lowest(t->spares);
    h->spare[index] = *t;
    p->grant &= ~landing;
    h->filled |= landing;
    if (p->holding == WHOLE)
        p->holding = PARTLY;
    return (uint16_t)(SPARE | index);
}

/* The newest block has the best estimate of what the client has yet to send. */
static void note_newest(struct peer *p, const struct flow_ticket *t) {
    if ((int32_t)(t->number - p->newest) < 0)
        return;
    p->newest = t->number + 1;
    p->asked = t->following;
}

int flow_arrive(struct flow_helper *h, uint32_t client, const struct flow_ticket *ticket,
                struct flow_place *place) {
    if (UNLIKELY(client >= h->clients))
        return -EPROTO;
    struct peer *p = h->peers[client];
    if (UNLIKELY(!p) && !(p = meet(h, client)))
        return -ENOMEM;
    if (UNLIKELY(!is_sound(h, p, ticket)))
        return -EPROTO;
    uint16_t slot = ticket->flags & FLOW_OWN ? land_own(h, p, ticket) : land_spare(h, p, ticket);
    *slot_of(h, p, ticket->number) = slot;
    if (ticket->flags & FLOW_LAST) {
        p->holding = CLOSED;
        p->last = ticket->number;
    }
    note_newest(p, ticket);
    p->undone++;
    if (ticket->number == p->done) /* not in a list yet, as its next block was missing */
        line_up(&h->ready, p, READY);
    *place = place_of(slot);
    return 0;
}

int flow_returned(struct flow_helper *h, uint32_t client, uint64_t spares) {
    struct peer *p = client < h->clients ? h->peers[client] : NULL;
    if (!p || p->holding != WHOLE || spares != p->grant)
        return -EPROTO;
    h->free |= spares;
    p->grant = p->asked = 0;
    p->holding = NOTHING;
    return 0;
}

/* ---- turns ---- */

bool flow_turn(struct flow_helper *h, struct flow_turn *turn) {
    struct peer *p = line_pop(&h->ready);
    if (!p)
        return false;
    p->turn = AT_WORK;
    turn->client = p->client;
    turn->place = place_of(*slot_of(h, p, p->done));
    turn->ticket = turn->place.spare ? h->spare[turn->place.index] : p->own[turn->place.index];
    return true;
}

void flow_later(struct flow_helper *h, uint32_t client) {
    struct peer *p = h->peers[client];
    assert(p->turn == AT_WORK);
    line_up(&h->put_off, p, PUT_OFF);
    h->put_off_count++;
}

uint32_t flow_retry(struct flow_helper *h) {
    uint32_t count = h->put_off_count;
    for (struct peer *p; (p = line_pop(&h->put_off));)
        line_up(&h->ready, p, READY);
    h->put_off_count = 0;
    return count;
}

/* ---- completion ---- */

/* Frees the block's buffer. Returns the flags of its ticket. */
static uint16_t vacate(struct flow_helper *h, struct peer *p) {
    uint16_t *slot = slot_of(h, p, p->done), flags;
    struct flow_place place = place_of(*slot);
    if (place.spare) {
        flags = h->spare[place.index].flags;
        h->filled &= ~(UINT64_C(1) << place.index);
        h->free |= UINT64_C(1) << place.index;
    } else {
        flags = p->own[place.index].flags;
        p->own[place.index].flags = 0;
    }
    *slot = NOWHERE;
    return flags;
}

static void end_grant(struct flow_helper *h, struct peer *p) {
    h->free |= p->grant;
    p->grant = 0;
    p->holding = NOTHING;
    p->last_waits = true;
}

/* The lowest `count` bits of `free`. */
static uint64_t some_of(uint64_t free, uint64_t count) {
    uint64_t rest = free;
    for (; count && rest; count--)
        rest &= rest - 1;
    return free & ~rest;
}

static uint64_t grant(struct flow_helper *h, struct peer *p) {
    if (LIKELY(!p->asked) || p->holding != NOTHING || !h->limits.spares)
        return 0;
    if (!h->free) {
        tally_add(&h->counts.refused, 1);
        return 0;
    }
    p->grant = some_of(h->free, (p->asked - 1) / h->limits.spare_bytes + 1);
    h->free &= ~p->grant;
    p->holding = WHOLE;
    tally_add(&h->counts.granted, 1);
    return p->grant;
}

/* A block in a pool buffer that is not the last needs no acknowledgement: the last one covers it. */
static bool is_due(const struct flow_helper *h, const struct peer *p) {
    if (!p->waiting && !p->last_waits)
        return false;
    return h->limits.buffers < 4 || !p->undone || p->waiting * 2 >= h->limits.buffers;
}

bool flow_done(struct flow_helper *h, uint32_t client, bool reply, struct flow_ack *ack) {
    struct peer *p = h->peers[client];
    assert(p->turn == AT_WORK);
    uint16_t flags = vacate(h, p);
    p->done++;
    p->undone--;
    p->waiting += flags & FLOW_OWN;
    if (flags & FLOW_LAST)
        end_grant(h, p);
    if (*slot_of(h, p, p->done) != NOWHERE)
        line_up(&h->ready, p, READY);
    else
        p->turn = IDLE;
    bool due = is_due(h, p);
    tally_add(due && !reply ? &h->counts.acks : &h->counts.coalesced, 1);
    if (!due && !reply)
        return false;
    p->waiting = 0;
    p->last_waits = false;
    ack->done = p->done;
    ack->granted = grant(h, p);
    return true;
}

void flow_release(struct flow_helper *h, uint64_t spares) {
    assert(is_within(spares, h->answering));
    h->answering &= ~spares;
    h->free |= spares;
}

struct flow_counts flow_helper_counts(const struct flow_helper *h) {
    return (struct flow_counts){.granted = tally_read(&h->counts.granted),
                                .refused = tally_read(&h->counts.refused),
                                .acks = tally_read(&h->counts.acks),
                                .coalesced = tally_read(&h->counts.coalesced)};
}

/* ---- invariants ---- */

static void must(bool holds) {
    if (!holds)
        abort();
}

/* Checks that no pool buffer is in two sets. */
static void add_set(uint64_t *all, uint64_t set) {
    must(!(*all & set));
    *all |= set;
}

static void check_blocks(const struct flow_helper *h, const struct peer *p, uint64_t *filled) {
    uint32_t here = 0, own = 0, own_here = 0;
    for (uint32_t i = 0; i <= h->mask; i++) {
        uint32_t number = p->done + i;
        uint16_t slot = *slot_of(h, p, number);
        if (slot == NOWHERE)
            continue;
        struct flow_place place = place_of(slot);
        const struct flow_ticket *t = place.spare ? &h->spare[place.index] : &p->own[place.index];
        must(t->number == number && i < h->window && (t->flags & FLOW_OWN) == !place.spare);
        must((int32_t)(number - p->newest) < 0);
        here++;
        own += !place.spare;
        if (place.spare)
            add_set(filled, UINT64_C(1) << place.index);
    }
    for (uint32_t i = 0; i < h->limits.buffers; i++)
        own_here += p->own[i].flags != 0;
    must(here == p->undone && own == own_here);
}

static void check_peer(const struct flow_helper *h, const struct peer *p) {
    must((p->turn != IDLE) == (*slot_of(h, p, p->done) != NOWHERE));
    must(p->holding == NOTHING ? !p->grant : h->limits.spares != 0);
    must(p->holding != WHOLE || p->grant);
    /* An idle client has no pending acknowledgement. */
    must(p->undone || (!p->waiting && !p->last_waits));
}

static uint32_t check_line(const struct line *line, enum turn turn) {
    uint32_t count = 0;
    struct peer *const *end = &line->first;
    for (; *end; end = &(*end)->next, count++)
        must((*end)->turn == turn);
    must(line->end == end);
    return count;
}

void flow_helper_check(const struct flow_helper *h) {
    uint64_t all = 0, filled = 0;
    uint32_t counts[PUT_OFF + 1] = {0};
    for (uint32_t i = 0; i < h->clients; i++) {
        const struct peer *p = h->peers[i];
        if (!p)
            continue;
        must(p->client == i);
        check_peer(h, p);
        check_blocks(h, p, &filled);
        add_set(&all, p->grant);
        counts[p->turn]++;
    }
    must(filled == h->filled);
    add_set(&all, h->free);
    add_set(&all, h->filled);
    add_set(&all, h->answering);
    must(all == all_spares(&h->limits));
    must(check_line(&h->ready, READY) == counts[READY]);
    must(check_line(&h->put_off, PUT_OFF) == counts[PUT_OFF] && counts[PUT_OFF] == h->put_off_count);
}

void flow_client_check(const struct flow_client *c) {
    uint32_t own = 0;
    must(c->sent - c->done <= window_of(&c->limits) && c->ring >= window_of(&c->limits));
    for (uint32_t number = c->done; number != c->sent; number++)
        own += c->kinds[number & (c->ring - 1)];
    must(own + c->credits == c->limits.buffers && c->next_own < c->limits.buffers);
    must(is_within(c->grant, all_spares(&c->limits)) && (!c->partly || c->grant));
    must(c->grants <= c->intimations);
}
