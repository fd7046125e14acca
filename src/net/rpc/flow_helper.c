/* flow_helper.c: buffers, grants and scheduling of blocks in a helper, as pure state.
 *
 * A helper keeps a pointer for each client, and a record only for clients from which a block has arrived:
 *
 *      order   ring by number: the location of the block of that number, if it has arrived
 *      own     by buffer: the ticket of the block in it
 *
 * Blocks may arrive in any order within the window (B plus the number of pool buffers, the most that a client can have
 * in flight), and are executed in order. A client whose next block has arrived is in exactly one of three states: in the
 * ready list, at work (net_flow_turn has returned its block), or in the list of deferred clients. The lists are FIFO. So
 * a ready client gets its turn after at most one turn of each of the others, and idle clients cost nothing.
 *
 * Every pool buffer is in exactly one of four sets:
 *
 *      free -> granted to a client -> filled with a block -> free
 *       |                |       \--> answering, until net_flow_release reports that the replies are sent -> free
 *       |                \--> free: returned, by a note or with the last block
 *       \--> answering: claimed for a piece of an answer
 *
 * A pool buffer leaves the client's grant when a block that uses it arrives. It is granted again, to the same client or
 * to another one, when this block is done. The acknowledgement that carries a new grant also covers all blocks before it. So
 * a client never has more blocks in flight than the window.
 *
 * A client that has pool buffers gets more only while no other client has any, and none waits that was refused.
 *
 * Input from clients is validated so that it cannot harm others: a block for a buffer in use, or for a pool buffer
 * that the client was not granted, is rejected before any state changes. */
#include <errno.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/rpc/flow_internal.h"
#include "net/rpc/tally.h"

/* Location of a block: own buffer i as i + 1, pool buffer i as POOLED + i. */
enum { NOWHERE = 0, POOLED = 0x8000 };

enum turn { IDLE, READY, AT_WORK, PUT_OFF };

struct flow_peer { /* a client from which a block has arrived */
    struct flow_peer *next;
    uint64_t grant;   /* granted pool buffers for which no block has arrived */
    uint64_t asked;   /* size hint of the newest block, or 0 */
    uint32_t client;  /* its number */
    uint32_t done;    /* blocks, wraps */
    uint32_t newest;  /* the highest number that has arrived, plus 1 */
    uint32_t undone;  /* blocks that have arrived and are not done */
    uint32_t pooled;  /* of these, those in pool buffers */
    uint32_t waiting; /* own blocks done and not acknowledged */
    uint8_t turn;
    bool last_waits; /* the last block of a grant is done and not acknowledged */
    bool refused;    /* its size hint was, since its last grant */
    uint16_t *order;
    struct flow_ticket own[]; /* flags 0: the buffer is empty */
};

struct line {
    struct flow_peer *first, **end;
};

struct flow_helper {
    struct flow_limits limits;
    uint32_t clients, window, mask; /* mask: of the rings */
    uint64_t free, filled, answering;
    struct line ready, put_off;
    uint32_t put_off_count, refused; /* clients */
    struct flow_counts counts;
    struct flow_ticket pooled[FLOW_POOL]; /* tickets of the blocks in them */
    struct flow_peer *peers[];
};

int net_flow_helper_open(const struct flow_limits *limits, uint32_t clients, struct flow_helper **helper) {
    if (!net_flow_are_sound(limits) || !clients)
        return -EINVAL;
    struct flow_helper *h = calloc(1, sizeof *h + (size_t)clients * sizeof(struct flow_peer *));
    if (!h)
        return -ENOMEM;
    h->limits = *limits;
    h->clients = clients;
    h->window = net_flow_window(limits);
    h->mask = net_flow_ring(limits) - 1;
    h->free = net_flow_all_pool_buffers(limits);
    h->ready.end = &h->ready.first;
    h->put_off.end = &h->put_off.first;
    *helper = h;
    return 0;
}

void net_flow_helper_close(struct flow_helper *h) {
    if (!h)
        return;
    for (uint32_t i = 0; i < h->clients; i++)
        free(h->peers[i]);
    free(h);
}

size_t net_flow_record(const struct flow_limits *limits) {
    return sizeof(struct flow_peer) + limits->buffers * sizeof(struct flow_ticket) +
           net_flow_ring(limits) * sizeof(uint16_t);
}

static struct flow_peer *flow_peer_new(struct flow_helper *h, uint32_t client) {
    struct flow_peer *p = calloc(1, net_flow_record(&h->limits));
    if (!p)
        return NULL;
    p->order = (uint16_t *)&p->own[h->limits.buffers];
    p->client = client;
    p->done = p->newest = h->limits.first;
    return h->peers[client] = p;
}

static uint16_t *flow_slot_of(const struct flow_helper *h, const struct flow_peer *p, uint32_t number) {
    return &p->order[number & h->mask];
}

static void line_up(struct line *line, struct flow_peer *p, enum turn turn) {
    p->turn = (uint8_t)turn;
    p->next = NULL;
    *line->end = p;
    line->end = &p->next;
}

static struct flow_peer *line_pop(struct line *line) {
    struct flow_peer *p = line->first;
    if (p && !(line->first = p->next))
        line->end = &line->first;
    return p;
}

/* ---- arrival ---- */

/* The client has the ticket's pool buffers. */
static bool may_use(const struct flow_peer *p, const struct flow_ticket *t) {
    return t->pool_buffers && net_flow_is_within(t->pool_buffers, p->grant);
}

static bool flow_is_sound(const struct flow_helper *h, const struct flow_peer *p,
                          const struct flow_ticket *t) {
    if (t->flags & ~(FLOW_OWN | FLOW_LAST) || t->number - p->done >= h->window ||
        *flow_slot_of(h, p, t->number) != NOWHERE)
        return false;
    if (!(t->flags & FLOW_OWN))
        return may_use(p, t) && (t->flags & FLOW_LAST || t->pool_buffers == net_flow_lowest(t->pool_buffers));
    if (t->own >= h->limits.buffers || p->own[t->own].flags)
        return false;
    return t->flags & FLOW_LAST ? may_use(p, t) : !t->pool_buffers;
}

static struct flow_place flow_place_of(uint16_t slot) {
    bool pooled = slot & POOLED;
    return (struct flow_place){.pooled = pooled, .index = (uint32_t)(pooled ? slot - POOLED : slot - 1)};
}

static uint16_t deliver_own(struct flow_helper *h, struct flow_peer *p, const struct flow_ticket *t) {
    ASSERT(t->own < h->limits.buffers && !p->own[t->own].flags);
    p->own[t->own] = *t;
    p->grant &= ~t->pool_buffers;
    h->answering |= t->pool_buffers;
    return (uint16_t)(t->own + 1);
}

static uint16_t deliver_pooled(struct flow_helper *h, struct flow_peer *p, const struct flow_ticket *t) {
    unsigned index = (unsigned)__builtin_ctzll(t->pool_buffers);
    uint64_t landing = net_flow_lowest(t->pool_buffers);
    ASSERT(!(h->filled & landing) && !(h->free & t->pool_buffers));
    h->pooled[index] = *t;
    p->grant &= ~t->pool_buffers;
    p->pooled++;
    h->filled |= landing;
    h->free |= t->pool_buffers & ~landing;
    return (uint16_t)(POOLED | index);
}

static void note_refused(struct flow_helper *h, struct flow_peer *p, bool refused) {
    h->refused += (uint32_t)refused - (uint32_t)p->refused;
    p->refused = refused;
}

static void note_need(struct flow_helper *h, struct flow_peer *p, uint64_t asked) {
    p->asked = asked;
    if (!asked)
        note_refused(h, p, false);
}

/* The newest block has the best estimate of what the client has yet to send. */
static void note_newest(struct flow_helper *h, struct flow_peer *p, const struct flow_ticket *t) {
    if ((int32_t)(t->number - p->newest) < 0)
        return;
    p->newest = t->number + 1;
    note_need(h, p, t->following);
}

int net_flow_arrive(struct flow_helper *h, uint32_t client, const struct flow_ticket *ticket,
                    struct flow_place *place) {
    if (UNLIKELY(client >= h->clients))
        return -EPROTO;
    struct flow_peer *p = h->peers[client];
    if (UNLIKELY(!p) && !(p = flow_peer_new(h, client)))
        return -ENOMEM;
    if (UNLIKELY(!flow_is_sound(h, p, ticket)))
        return -EPROTO;
    uint16_t slot = ticket->flags & FLOW_OWN ? deliver_own(h, p, ticket) : deliver_pooled(h, p, ticket);
    *flow_slot_of(h, p, ticket->number) = slot;
    note_newest(h, p, ticket);
    p->undone++;
    if (ticket->number == p->done) /* not in a list yet, as its next block was missing */
        line_up(&h->ready, p, READY);
    *place = flow_place_of(slot);
    return 0;
}

int net_flow_returned(struct flow_helper *h, uint32_t client, uint64_t pool_buffers) {
    struct flow_peer *p = client < h->clients ? h->peers[client] : NULL;
    if (!p || !pool_buffers || !net_flow_is_within(pool_buffers, p->grant))
        return -EPROTO;
    ASSERT(!(h->free & pool_buffers));
    h->free |= pool_buffers;
    p->grant &= ~pool_buffers;
    note_need(h, p, 0);
    return 0;
}

/* ---- turns ---- */

bool net_flow_turn(struct flow_helper *h, struct flow_turn *turn) {
    struct flow_peer *p = line_pop(&h->ready);
    if (!p)
        return false;
    p->turn = AT_WORK;
    turn->client = p->client;
    turn->place = flow_place_of(*flow_slot_of(h, p, p->done));
    turn->ticket = turn->place.pooled ? h->pooled[turn->place.index] : p->own[turn->place.index];
    return true;
}

void net_flow_later(struct flow_helper *h, uint32_t client) {
    struct flow_peer *p = h->peers[client];
    ASSERT(p->turn == AT_WORK);
    line_up(&h->put_off, p, PUT_OFF);
    h->put_off_count++;
}

uint32_t net_flow_retry(struct flow_helper *h) {
    uint32_t count = h->put_off_count;
    for (struct flow_peer *p; (p = line_pop(&h->put_off));)
        line_up(&h->ready, p, READY);
    h->put_off_count = 0;
    return count;
}

/* ---- completion ---- */

/* Frees the block's buffer. Returns the flags of its ticket. */
static uint16_t vacate(struct flow_helper *h, struct flow_peer *p) {
    uint16_t *slot = flow_slot_of(h, p, p->done), flags;
    ASSERT(*slot != NOWHERE);
    struct flow_place place = flow_place_of(*slot);
    if (place.pooled) {
        flags = h->pooled[place.index].flags;
        ASSERT(p->pooled > 0 && h->filled >> place.index & 1 && !(h->free >> place.index & 1));
        h->filled &= ~(UINT64_C(1) << place.index);
        h->free |= UINT64_C(1) << place.index;
        p->pooled--;
    } else {
        flags = p->own[place.index].flags;
        p->own[place.index].flags = 0;
    }
    *slot = NOWHERE;
    return flags;
}

/* The lowest `count` bits of `free`. */
static uint64_t some_of(uint64_t free, uint64_t count) {
    uint64_t rest = free;
    for (; count && rest; count--)
        rest &= rest - 1;
    return free & ~rest;
}

/* The pool buffers that the client needs in addition to those that it has. */
static uint64_t flow_need(const struct flow_helper *h, const struct flow_peer *p) {
    if (LIKELY(!p->asked) || !h->limits.pool_buffers)
        return 0;
    uint64_t all = (p->asked - 1) / h->limits.pool_buffer_bytes + 1,
             granted = (uint64_t)__builtin_popcountll(p->grant);
    return all > granted ? all - granted : 0;
}

static uint32_t pool_buffers_of(const struct flow_peer *p) {
    return (uint32_t)__builtin_popcountll(p->grant) + p->pooled;
}

/* Whether another client has pool buffers, or waits for them. */
static bool is_contended(const struct flow_helper *h, const struct flow_peer *p) {
    uint32_t used = h->limits.pool_buffers - (uint32_t)__builtin_popcountll(h->free);
    return h->refused > p->refused || used > pool_buffers_of(p);
}

static uint64_t flow_grant(struct flow_helper *h, struct flow_peer *p) {
    uint64_t need = flow_need(h, p);
    if (!need || (pool_buffers_of(p) && is_contended(h, p)))
        return 0;
    if (!h->free) {
        tally_add(&h->counts.refused, 1);
        note_refused(h, p, true);
        return 0;
    }
    uint64_t granted = some_of(h->free, need);
    ASSERT(granted && !(p->grant & granted) && !(h->filled & granted));
    p->grant |= granted;
    h->free &= ~granted;
    note_refused(h, p, false);
    tally_add(&h->counts.granted, 1);
    return granted;
}

/* Whether a message pays that only grants, after a block in a pool buffer: it can grant all that the client needs, or half of the
 * pool, or the client would have to wait. */
static bool is_grant_due(const struct flow_helper *h, const struct flow_peer *p) {
    uint64_t need = flow_need(h, p), free = (uint64_t)__builtin_popcountll(h->free);
    if (!need || !free || is_contended(h, p))
        return false;
    return free >= need || free * 2 >= h->limits.pool_buffers || !p->undone;
}

/* A block in a pool buffer that is not the last needs no acknowledgement, as the last one covers it, unless the client
 * can be granted more. */
static bool flow_is_due(const struct flow_helper *h, const struct flow_peer *p, bool pooled) {
    if (pooled && is_grant_due(h, p))
        return true;
    if (!p->waiting && !p->last_waits)
        return false;
    if (!p->undone || h->limits.buffers >= 4)
        return !p->undone || p->waiting * 2 >= h->limits.buffers;
    return p->waiting || !p->pooled;
}

bool net_flow_done(struct flow_helper *h, uint32_t client, bool reply, struct flow_ack *ack) {
    struct flow_peer *p = h->peers[client];
    ASSERT(p->turn == AT_WORK);
    uint16_t flags = vacate(h, p);
    p->done++;
    p->undone--;
    p->waiting += flags & FLOW_OWN;
    p->last_waits |= (flags & FLOW_LAST) != 0;
    if (*flow_slot_of(h, p, p->done) != NOWHERE)
        line_up(&h->ready, p, READY);
    else
        p->turn = IDLE;
    bool due = flow_is_due(h, p, !(flags & FLOW_OWN));
    tally_add(due && !reply ? &h->counts.acks : &h->counts.coalesced, 1);
    if (!due && !reply)
        return false;
    p->waiting = 0;
    p->last_waits = false;
    ack->done = p->done;
    ack->granted = flow_grant(h, p);
    return true;
}

bool net_flow_claim(struct flow_helper *h, uint32_t *index) {
    if (!h->free || !h->limits.size_hint)
        return false;
    uint64_t buffer = net_flow_lowest(h->free);
    *index = (uint32_t)__builtin_ctzll(buffer);
    h->free &= ~buffer;
    h->answering |= buffer;
    return true;
}

void net_flow_release(struct flow_helper *h, uint64_t pool_buffers) {
    ASSERT(net_flow_is_within(pool_buffers, h->answering));
    h->answering &= ~pool_buffers;
    h->free |= pool_buffers;
}

struct flow_counts net_flow_helper_counts(const struct flow_helper *h) {
    return (struct flow_counts){.granted = tally_read(&h->counts.granted),
                                .refused = tally_read(&h->counts.refused),
                                .acks = tally_read(&h->counts.acks),
                                .coalesced = tally_read(&h->counts.coalesced)};
}

/* ---- invariants ---- */

/* Checks that no pool buffer is in two sets. */
static void add_set(uint64_t *all, uint64_t set) {
    net_flow_must(!(*all & set));
    *all |= set;
}

static void check_blocks(const struct flow_helper *h, const struct flow_peer *p, uint64_t *filled) {
    uint32_t here = 0, own = 0, own_here = 0;
    for (uint32_t i = 0; i <= h->mask; i++) {
        uint32_t number = p->done + i;
        uint16_t slot = *flow_slot_of(h, p, number);
        if (slot == NOWHERE)
            continue;
        struct flow_place place = flow_place_of(slot);
        const struct flow_ticket *t = place.pooled ? &h->pooled[place.index] : &p->own[place.index];
        net_flow_must(t->number == number && i < h->window && (t->flags & FLOW_OWN) == !place.pooled);
        net_flow_must((int32_t)(number - p->newest) < 0);
        here++;
        own += !place.pooled;
        if (place.pooled)
            add_set(filled, UINT64_C(1) << place.index);
    }
    for (uint32_t i = 0; i < h->limits.buffers; i++)
        own_here += p->own[i].flags != 0;
    net_flow_must(here == p->undone && own == own_here && here - own == p->pooled);
}

static void check_peer(const struct flow_helper *h, const struct flow_peer *p) {
    net_flow_must((p->turn != IDLE) == (*flow_slot_of(h, p, p->done) != NOWHERE));
    net_flow_must(!p->refused || p->asked);
    /* An idle client has no pending acknowledgement. */
    net_flow_must(p->undone || (!p->waiting && !p->last_waits));
}

static uint32_t check_line(const struct line *line, enum turn turn) {
    uint32_t count = 0;
    struct flow_peer *const *end = &line->first;
    for (; *end; end = &(*end)->next, count++)
        net_flow_must((*end)->turn == turn);
    net_flow_must(line->end == end);
    return count;
}

void net_flow_helper_check(const struct flow_helper *h) {
    uint64_t all = 0, filled = 0;
    uint32_t counts[PUT_OFF + 1] = {0}, refused = 0;
    for (uint32_t i = 0; i < h->clients; i++) {
        const struct flow_peer *p = h->peers[i];
        if (!p)
            continue;
        net_flow_must(p->client == i);
        check_peer(h, p);
        check_blocks(h, p, &filled);
        add_set(&all, p->grant);
        counts[p->turn]++;
        refused += p->refused;
    }
    net_flow_must(filled == h->filled && refused == h->refused);
    add_set(&all, h->free);
    add_set(&all, h->filled);
    add_set(&all, h->answering);
    net_flow_must(all == net_flow_all_pool_buffers(&h->limits));
    net_flow_must(check_line(&h->ready, READY) == counts[READY]);
    net_flow_must(check_line(&h->put_off, PUT_OFF) == counts[PUT_OFF] && counts[PUT_OFF] == h->put_off_count);
}
