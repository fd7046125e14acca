/* flow_client.c: credits and grants of a client, as pure state.
 *
 * A client keeps little: how many own buffers are free, and which pool buffers it was granted. Own buffers form a
 * ring, and blocks are executed in the order of their numbers. So the next own buffer is free whenever there is a
 * credit. An acknowledgement says only how many blocks are done; a ring of bytes by number records which blocks in
 * flight are own. */
#include <errno.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/rpc/flow_internal.h"

int net_flow_client_open(struct flow_client *c, const struct flow_limits *limits) {
    if (!net_flow_are_sound(limits))
        return -EINVAL;
    uint8_t *kinds = calloc(net_flow_ring(limits), 1);
    if (!kinds)
        return -ENOMEM;
    *c = (struct flow_client){.limits = *limits,
                              .sent = limits->first,
                              .done = limits->first,
                              .credits = limits->buffers,
                              .kinds = kinds,
                              .ring = net_flow_ring(limits)};
    return 0;
}

void net_flow_client_close(struct flow_client *c) {
    free(c->kinds);
    c->kinds = NULL;
}

static bool must_wait(struct flow_client *c) {
    c->waits += !c->waiting; /* once per wait, however often it tries */
    c->waiting = true;
    return false;
}

static void flow_take_own(struct flow_client *c, struct flow_ticket *t) {
    ASSERT(c->credits > 0 && c->credits <= c->limits.buffers);
    ASSERT(c->next_own < c->limits.buffers);
    t->flags = FLOW_OWN;
    t->own = (uint16_t)c->next_own;
    if (++c->next_own == c->limits.buffers)
        c->next_own = 0;
    c->credits--;
}

/* Takes pool buffers from the grant: all of them for an answer, the lowest for a block. The rest is returned if the
 * operation ends with this block. */
static size_t take_pool_buffers(struct flow_client *c, bool fetch, uint64_t left, struct flow_ticket *t) {
    uint64_t landing = net_flow_lowest(c->grant);
    ASSERT(landing);
    size_t room = c->limits.pool_buffer_bytes;
    if (fetch)
        room *= (size_t)__builtin_popcountll(c->grant);
    if (fetch || left <= room || c->grant == landing) {
        t->flags |= FLOW_LAST;
        t->pool_buffers = c->grant;
    } else {
        t->pool_buffers = landing;
    }
    c->grant &= ~t->pool_buffers;
    return room;
}

/* Bytes that neither this block nor the credits at hand will carry. The helper knows the grant. */
static uint64_t beyond(struct flow_client *c, uint64_t left, size_t room) {
    uint64_t reach = room + (uint64_t)c->credits * c->limits.bytes;
    if (!c->limits.size_hint || !c->limits.pool_buffers || left <= reach)
        return 0;
    c->size_hints += !c->grant;
    return left - reach;
}

uint64_t net_flow_hint(struct flow_client *c, uint64_t left) {
    return beyond(c, left, 0);
}

/* Blocks in pool buffers are in flight, and more pool buffers were asked for: they are larger than own ones, and the
 * acknowledgement of these blocks will grant or refuse them. */
static bool expects_grant(const struct flow_client *c) {
    uint32_t own = c->limits.buffers - c->credits;
    return c->asking && c->sent - c->done > own;
}

bool net_flow_take(struct flow_client *c, bool fetch, uint64_t left, struct flow_ticket *ticket,
                   size_t *room) {
    bool own = fetch || !c->grant;
    if (UNLIKELY(own && (!c->credits || (!fetch && left > c->limits.bytes && expects_grant(c)))))
        return must_wait(c);
    c->waiting = false;
    struct flow_ticket t = {.number = c->sent};
    size_t bytes = c->limits.bytes;
    if (own)
        flow_take_own(c, &t);
    if (c->grant)
        bytes = take_pool_buffers(c, fetch, left, &t);
    t.following = beyond(c, left, bytes);
    c->asking = t.following > 0;
    c->kinds[c->sent++ & (c->ring - 1)] = own;
    ASSERT(c->sent - c->done <= net_flow_window(&c->limits));
    ASSERT(bytes > 0);
    *ticket = t;
    *room = bytes;
    return true;
}

/* Only after a size hint. A pool buffer is granted again with or after the acknowledgement of the block that was in it:
 * otherwise more blocks could be in flight than the ring has room for. `pooled`: blocks in flight to pool buffers. */
static bool may_be_granted(const struct flow_client *c, uint64_t pool_buffers, uint32_t pooled) {
    uint64_t all = c->grant | pool_buffers;
    return net_flow_is_within(all, net_flow_all_pool_buffers(&c->limits)) && !(c->grant & pool_buffers) &&
           c->size_hints > 0 && pooled + (uint32_t)__builtin_popcountll(all) <= c->limits.pool_buffers;
}

int net_flow_acknowledge(struct flow_client *c, const struct flow_ack *ack) {
    uint32_t newly = ack->done - c->done, credits = c->credits;
    if ((int32_t)newly < 0)
        newly = 0; /* stale: a small message has overtaken a long one */
    if (newly > c->sent - c->done)
        return -EPROTO;
    uint32_t done = c->done + newly;
    for (uint32_t number = c->done; number != done; number++)
        credits += c->kinds[number & (c->ring - 1)];
    if (ack->granted) {
        uint32_t own = c->limits.buffers - credits;
        if (!may_be_granted(c, ack->granted, c->sent - done - own))
            return -EPROTO;
        c->grant |= ack->granted;
        c->grants++;
    }
    c->done = done;
    c->credits = credits;
    ASSERT(c->credits <= c->limits.buffers);
    ASSERT(c->sent - c->done <= net_flow_window(&c->limits));
    ASSERT(c->sent - c->done >= c->limits.buffers - c->credits);
    return 0;
}

uint64_t net_flow_give_back(struct flow_client *c) {
    uint64_t pool_buffers = c->grant;
    c->grant = 0;
    return pool_buffers;
}

void net_flow_client_check(const struct flow_client *c) {
    uint32_t own = 0;
    net_flow_must(c->sent - c->done <= net_flow_window(&c->limits) && c->ring >= net_flow_window(&c->limits));
    for (uint32_t number = c->done; number != c->sent; number++)
        own += c->kinds[number & (c->ring - 1)];
    net_flow_must(own + c->credits == c->limits.buffers && c->next_own < c->limits.buffers);
    net_flow_must(net_flow_is_within(c->grant, net_flow_all_pool_buffers(&c->limits)));
    net_flow_must(c->sent - c->done - own + (uint32_t)__builtin_popcountll(c->grant) <=
                  c->limits.pool_buffers);
    net_flow_must(!c->grants || c->size_hints);
}
