/* call.c: the client side: cuts operations into blocks, sends them as far as credits allow, and consumes answers.
 *
 * Every helper in use has a queue of operations. Only the first operation of a queue makes blocks. So blocks leave
 * in the order of the operations, and the helper executes them in this order. An operation without an answer is
 * forgotten when its last block has left. Its completion shows in the helper's count of blocks done, which is all
 * that a fence reads. An operation with an answer has an id until the answer is complete.
 *
 * Blocks are packed into one of OUTS buffers and sent from there, unless the operation lets the block point to the
 * program's own memory. */
#include "net/rpc/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "net/rpc/rpc_engine.h"

enum state { OP_QUEUED, OP_SENT, OP_DONE };
enum { NAMELESS = UINT32_MAX };

/* ---- targets ---- */

static struct net_target *target_open(struct net *n, int node, int helper) {
    size_t index = (size_t)node * (size_t)n->helpers + (size_t)helper;
    const char *address = n->addresses + index * n->address_bytes;
    uint16_t length;
    struct net_target *t = calloc(1, sizeof *t);
    if (!t || net_flow_client_open(&t->flow, &n->limits) != 0) {
        free(t);
        return NULL;
    }
    t->rank = net_world_leader(n->world, node);
    memcpy(&length, address, sizeof length);
    if (net_link_connect(n->port, address + sizeof length, length, t->rank, 1 + helper, &t->peer) != 0) {
        net_flow_client_close(&t->flow);
        free(t);
        return NULL;
    }
    n->targets[index] = t;
    return t;
}

struct net_target *net_target_of(struct net *n, int node, int helper) {
    struct net_target *t = n->targets[(size_t)node * (size_t)n->helpers + (size_t)helper];
    if (LIKELY(t))
        return t;
    t = target_open(n, node, helper);
    if (!t)
        net_tell_failure(n, net_world_leader(n->world, node), "no memory or no connection for its helper");
    return t;
}

/* ---- blocks being sent ---- */

static void free_out(struct out *o) {
    o->next = o->net->free_outs;
    o->net->free_outs = o;
}

static void out_has_left(struct link_send *s, int status) {
    struct out *o = (struct out *)s;
    (void)status; /* the link reports a peer that failed, at once or later, to net_call_failed */
    if (o->op)
        o->op->under_way--;
    free_out(o);
}

static struct out *target_take_out(struct net *n) {
    struct out *o = n->free_outs;
    if (!o)
        return NULL;
    n->free_outs = o->next;
    o->op = NULL;
    return o;
}

static bool has_answer(const struct net_op *op) {
    return op->fetches || op->waits;
}

static bool name_op(struct net *n, struct net_op *op) {
    if (!has_answer(op) || op->id != NAMELESS)
        return true;
    if (n->ops_free == 0)
        return false;
    op->id = n->free_ops[--n->ops_free];
    n->ops[op->id] = op;
    return true;
}

static void forget_op(struct net *n, struct net_op *op) {
    n->ops[op->id] = NULL;
    n->free_ops[n->ops_free++] = op->id;
    op->id = NAMELESS;
    op->state = OP_DONE;
}

static void send_out(struct net *n, struct net_target *t, struct out *o, size_t header_bytes,
                     const void *payload, size_t bytes) {
    n->bytes += bytes;
    if (net_link_send(n->port, t->peer, o->header, header_bytes, payload, bytes, &o->send) != 1)
        out_has_left(&o->send, 0);
}

/* The last block of an operation has the size hint of the next one in the queue. */
static uint64_t hint_of_next(struct net_target *t, const struct net_op *op) {
    const struct net_op *next = op->after;
    return next && !next->streams ? net_flow_hint(&t->flow, next->left) : 0;
}

static void send_block(struct net *n, struct net_target *t, struct net_op *op, struct out *o,
                       struct flow_ticket *ticket, size_t room) {
    struct wire_block *w = (struct wire_block *)o->header;
    struct net_out out = {.header = w + 1, .payload = o->buffer};
    bool streams = op->streams && ticket->pool_buffers == 0;
    size_t answer_room = streams ? SIZE_MAX : op->fetches ? room : 0;
    size_t covered = op->next(op, op->fetches ? n->limits.bytes : room, answer_room, &out);
    op->left -= covered;
    if (op->left == 0)
        ticket->following = hint_of_next(t, op);
    *w = (struct wire_block){.kind = WIRE_BLOCK,
                             .client = (uint32_t)n->world->rank,
                             .op = op->id,
                             .header_bytes = (uint16_t)out.header_bytes,
                             .handler = op->handler,
                             .streams = streams,
                             .ticket = *ticket,
                             .answer_bytes = out.answer_bytes,
                             .answer_offset = op->asked};
    op->asked += out.answer_bytes;
    o->op = op;
    op->under_way++;
    if (op->left == 0)
        op->state = OP_SENT;
    n->blocks++;
    send_out(n, t, o, sizeof *w + out.header_bytes, out.payload, out.bytes);
}

/* Nothing is left to send to this target: returns its granted pool buffers. */
static bool target_give_back(struct net *n, struct net_target *t) {
    if (t->flow.grant == 0)
        return true;
    if (!n->free_outs)
        return false;
    uint64_t pool_buffers = net_flow_give_back(&t->flow);
    if (pool_buffers == 0)
        return true;
    struct out *o = target_take_out(n);
    struct wire_note *note = (struct wire_note *)o->header;
    *note = (struct wire_note){
        .kind = WIRE_NOTE, .client = (uint32_t)n->world->rank, .pool_buffers = pool_buffers};
    send_out(n, t, o, sizeof *note, NULL, 0);
    return true;
}

/* ---- after direct puts ---- */

/* A failed flush never ends, as a failed direct operation (direct.c). */
static void has_flushed(struct link_send *s, int status) {
    struct net_target *t = (struct net_target *)((char *)s - offsetof(struct net_target, flush));
    if (LIKELY(status == 0))
        t->flushing = false;
}

void net_target_flush(struct net *n, struct net_target *t) {
    if (t->flushing)
        return;
    t->unflushed = false;
    t->flushing = true;
    t->announced = false;
    t->flush.sent = has_flushed;
    int status = net_link_flush(n->port, t->peer, &t->flush);
    if (status != 1)
        has_flushed(&t->flush, status);
}

/* An operation that waits for a flush sends a size hint, so that pool buffers are granted by the time it may start. */
static void call_announce(struct net *n, struct net_target *t, const struct net_op *op) {
    struct flow_ticket ticket;
    size_t room;
    bool is_long = op->left > (uint64_t)t->flow.credits * n->limits.bytes;
    if (t->announced || !is_long || !n->limits.size_hint || t->flow.grant || !n->free_outs ||
        !net_flow_take(&t->flow, false, op->left, &ticket, &room))
        return;
    t->announced = true;
    struct out *o = target_take_out(n);
    struct wire_block *w = (struct wire_block *)o->header;
    ticket.following = op->left;
    *w = (struct wire_block){
        .kind = WIRE_BLOCK, .client = (uint32_t)n->world->rank, .handler = WIRE_NOTHING, .ticket = ticket};
    send_out(n, t, o, sizeof *w, NULL, 0);
}

/* Sends as many blocks as possible; false if some are left. */
static bool pump(struct net *n, struct net_target *t) {
    struct net_op *op;
    while ((op = t->first)) {
        if (UNLIKELY(t->unflushed || t->flushing || t->direct > 0)) {
            if (t->unflushed)
                net_target_flush(n, t);
            call_announce(n, t, op);
            if (t->flushing || t->direct > 0)
                return false;
        }
        struct flow_ticket ticket;
        size_t room;
        struct out *o = n->free_outs;
        uint64_t left = op->streams ? 0 : op->left; /* a streamed answer needs no grant */
        if (!o || !name_op(n, op) || !net_flow_take(&t->flow, op->fetches, left, &ticket, &room))
            return false;
        target_take_out(n);
        struct net_op *after = op->after;
        send_block(n, t, op, o, &ticket, room);
        if (op->left > 0)
            continue;
        t->first = after; /* op may be freed already */
        if (!after)
            t->last = NULL;
    }
    return target_give_back(n, t);
}

static void list_sending(struct net *n, struct net_target *t) {
    if (t->listed)
        return;
    t->listed = true;
    t->next = n->sending;
    n->sending = t;
}

static void pump_all(struct net *n) {
    for (struct net_target **at = &n->sending; *at;) {
        struct net_target *t = *at;
        if (pump(n, t)) {
            t->listed = false;
            *at = t->next;
        } else
            at = &t->next;
    }
}

void net_start(struct net *n, int node, struct net_op *op) {
    struct net_target *t = net_target_of(n, node, op->first_helper ? 0 : n->world->rank % n->helpers);
    op->state = OP_QUEUED;
    op->id = NAMELESS;
    op->under_way = 0;
    op->asked = op->answered = 0;
    op->after = NULL;
    if (t->last)
        t->last->after = op;
    else
        t->first = op;
    t->last = op;
    if (t->first != op || !pump(n, t))
        list_sending(n, t);
}

/* ---- arriving messages ---- */

/* op->take copies the answer to its destination and relies on these checks. A reply ends the operation, which
 * therefore must have left the queue of its target. */
static bool is_asked_for(const struct net_op *op, const struct wire_reply *r, size_t bytes) {
    if (!op)
        return false;
    if (r->kind == WIRE_REPLY)
        return op->waits && op->state == OP_SENT && bytes <= WIRE_REPLY_BYTES;
    return r->kind == WIRE_ANSWER && op->fetches && r->offset <= op->asked &&
           bytes <= op->asked - r->offset && bytes <= op->asked - op->answered;
}

static void take_answer(struct net *n, const struct net_target *t, const struct wire_reply *r,
                        const void *data, size_t bytes) {
    struct net_op *op = r->op < OPS ? n->ops[r->op] : NULL;
    if (UNLIKELY(!is_asked_for(op, r, bytes))) {
        net_tell_failure(n, t->rank,
                         "invalid answer from its helper: do all ranks run the same version of the library?");
        return;
    }
    op->take(op, r->offset, data, bytes);
    op->answered += bytes;
    if (r->kind == WIRE_REPLY || (op->state == OP_SENT && op->answered == op->asked && !op->waits))
        forget_op(n, op);
}

void net_call_arrived(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                      const void *payload, size_t bytes) {
    struct net *n = arg;
    const struct wire_reply *r = header;
    (void)from;
    size_t targets = (size_t)n->world->nodes * (size_t)n->helpers;
    struct net_target *t = header_bytes == sizeof *r && r->from < targets ? n->targets[r->from] : NULL;
    if (!t || (r->acknowledges && net_flow_acknowledge(&t->flow, &r->ack) != 0)) {
        log_error("discarded a message of %zu bytes that is not from a helper of this job",
                  header_bytes + bytes);
        return;
    }
    t->heard = clock_ns();
    log_trace(LOG_NET, "helper %u acknowledges up to block %u, and grants %d buffers", r->from,
              r->acknowledges ? r->ack.done : 0, r->acknowledges ? __builtin_popcountll(r->ack.granted) : 0);
    if (r->kind != WIRE_ACK)
        take_answer(n, t, r, payload, bytes);
    if (t->first || t->flow.grant)
        list_sending(n, t);
}

void net_call_failed(void *arg, struct link_peer *peer, const char *why) {
    struct net *n = arg;
    size_t targets = (size_t)n->world->nodes * (size_t)n->helpers;
    if (!peer)
        net_tell_failure(n, -1, why);
    for (size_t i = 0; i < targets; i++)
        if (n->targets[i] && n->targets[i]->peer == peer)
            net_tell_failure(n, n->targets[i]->rank, why);
}

/* ---- progress ---- */

bool net_is_sent(const struct net_op *op) {
    return op->state != OP_QUEUED && op->under_way == 0;
}

bool net_is_done(const struct net_op *op) {
    return op->state == OP_DONE && op->under_way == 0;
}

uint32_t net_under_way(const struct net *n, int node) {
    size_t helper = (size_t)(n->world->rank % n->helpers);
    const struct net_target *t = n->targets[(size_t)node * (size_t)n->helpers + helper];
    return t ? t->flow.sent - t->flow.done : 0;
}

size_t net_block_bytes(const struct net *n) {
    return n->limits.bytes;
}

int net_call_progress(struct net *n) {
    int happened = net_link_progress(n->port);
    if (n->sending)
        pump_all(n);
    return happened;
}

/* ---- opening and closing ---- */

int net_call_open(struct net *n) {
    size_t largest = n->limits.pool_buffers > 0 ? n->limits.pool_buffer_bytes : n->limits.bytes;
    size_t room = round_up(largest, CACHE_LINE);
    n->targets = calloc((size_t)n->world->nodes * (size_t)n->helpers, sizeof *n->targets);
    if (!n->targets || memory_open(&n->out_memory, OUTS * room, NULL) != 0) {
        log_error("network: no memory for %d buffers of %zu bytes to send from", OUTS, room);
        return -ENOMEM;
    }
    for (int i = 0; i < OUTS; i++) {
        n->outs[i].net = n;
        n->outs[i].send.sent = out_has_left;
        n->outs[i].buffer = (char *)n->out_memory.base + (size_t)i * room;
        free_out(&n->outs[i]);
    }
    n->spin.score = SPIN_BEST;
    for (uint32_t i = 0; i < OPS; i++)
        n->free_ops[n->ops_free++] = i;
    return 0;
}

void net_call_close(struct net *n) {
    for (size_t i = 0; n->targets && i < (size_t)n->world->nodes * (size_t)n->helpers; i++)
        if (n->targets[i]) {
            net_flow_client_close(&n->targets[i]->flow);
            free(n->targets[i]);
        }
    free(n->targets);
    n->targets = NULL;
    memory_close(&n->out_memory);
}
