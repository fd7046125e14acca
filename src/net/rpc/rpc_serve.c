/* rpc_serve.c: the serving side: stores blocks in the arena, executes them in turn, and answers.
 *
 *      net_link_progress -> server_deliver copies a block to the buffer that its ticket names
 *      net_server_work   -> net_flow_turn picks the next block -> handler -> NET_DONE: acknowledgement, answer
 *                                                                         -> NET_LATER: the next client's turn
 *
 * Nothing here blocks. Nothing is allocated, except a small record at a client's first message. An answer is built
 * in memory that belongs to the block's slot, or in pool buffers that were granted for it, and is sent from there.
 * Until it has been sent, the next block in that slot that needs an answer is deferred.
 *
 * An acknowledgement that becomes due while the previous one is being sent is merged with the next: only the newest
 * number matters, and there is at most one grant. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/rpc/rpc_engine.h"
#include "net/rpc/tally.h"
#include "observe/probe.h"

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

static void server_fail(struct server *s, uint32_t rank, const char *why) {
    net_tell_failure(s->net, (int)rank, why);
}

static uint32_t my_name(const struct server *s) {
    return (uint32_t)(s->net->world->node * s->net->helpers + s->index);
}

/* ---- acknowledgements ---- */

static void send_ack(struct server_client *c) {
    struct server *s = c->server;
    c->ack = (struct wire_reply){.kind = WIRE_ACK, .from = my_name(s), .acknowledges = 1, .ack = c->ack_next};
    c->ack_next.granted = 0;
    c->ack_due = false;
    c->ack_leaving = net_link_send(s->port, c->peer, &c->ack, sizeof c->ack, NULL, 0, &c->ack_send) == 1;
}

static void ack_has_left(struct link_send *send, int status) {
    struct server_client *c = container_of(send, struct server_client, ack_send);
    c->ack_leaving = false;
    if (c->ack_due && status == 0)
        send_ack(c);
}

static void acknowledge(struct server_client *c, const struct flow_ack *ack) {
    if (ack->granted)
        log_debug(LOG_NET, "helper %d grants %d buffers to a client, after block %u", c->server->index,
                  __builtin_popcountll(ack->granted), ack->done);
    c->ack_next.done = ack->done;
    c->ack_next.granted |= ack->granted;
    c->ack_due = true;
    if (!c->ack_leaving)
        send_ack(c);
}

/* Piggybacks the acknowledgement that is due on an answer. */
static void ride(struct server_client *c, const struct flow_ack *ack, struct wire_reply *r) {
    if (ack->granted)
        log_debug(LOG_NET, "helper %d grants %d buffers to a client, with an answer", c->server->index,
                  __builtin_popcountll(ack->granted));
    r->acknowledges = 1;
    r->ack = *ack;
    r->ack.granted |= c->ack_next.granted;
    c->ack_next.granted = 0;
    c->ack_due = false;
}

/* ---- clients ---- */

static void late_has_left(struct link_send *send, int status) {
    (void)status;
    container_of(send, struct late, send)->leaving = false;
}

static void extra_late_has_left(struct link_send *send, int status) {
    (void)status;
    free(container_of(send, struct late, send));
}

static struct server_client *client_of(struct server *s, uint32_t rank, struct link_peer *peer) {
    struct server_client *c = s->clients[rank];
    if (LIKELY(c))
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct server_client){.peer = peer, .server = s, .rank = rank};
    c->ack_send.sent = ack_has_left;
    for (size_t i = 0; i < sizeof c->late / sizeof c->late[0]; i++)
        c->late[i].send.sent = late_has_left;
    return s->clients[rank] = c;
}

/* ---- delivery ---- */

static char *server_place_of(struct server *s, uint32_t client, const struct flow_place *place) {
    return place->pooled ? net_arena_pool_buffer(&s->arena, place->index)
                         : net_arena_slot(&s->arena, client, place->index);
}

/* A block without a handler has no answer. */
static bool has_handler(const struct server *s, const struct wire_block *w) {
    if (w->handler == WIRE_NOTHING)
        return w->answer_bytes == 0;
    return w->handler < NET_HANDLERS * NET_SERVICES && net_engine_offers(s->net, w->handler / NET_HANDLERS) &&
           s->net->services[w->handler / NET_HANDLERS].handlers[w->handler % NET_HANDLERS];
}

/* The pool buffers of a block in an own buffer are for its answer: without an answer nothing would free them. */
static bool is_sane(const struct server *s, const struct wire_block *w, size_t header_bytes, size_t bytes) {
    const struct flow_limits *l = &s->net->limits;
    bool own = w->ticket.flags & FLOW_OWN;
    size_t pool_buffers = own ? (size_t)__builtin_popcountll(w->ticket.pool_buffers) : 0;
    size_t most_answer = pool_buffers > 0 ? pool_buffers * l->pool_buffer_bytes
                         : !own           ? 0
                         : w->streams     ? SIZE_MAX
                                          : l->bytes;
    return header_bytes == sizeof *w + w->header_bytes && w->header_bytes <= NET_HEADER &&
           has_handler(s, w) && bytes <= (own ? l->bytes : l->pool_buffer_bytes) &&
           w->answer_bytes <= most_answer && (pool_buffers == 0 || w->answer_bytes > 0);
}

static void deliver_block(struct server *s, struct link_peer *from, const struct wire_block *w,
                          size_t header_bytes, const void *payload, size_t bytes) {
    struct flow_place place;
    if (!is_sane(s, w, header_bytes, bytes) || net_flow_arrive(s->flow, w->client, &w->ticket, &place) != 0) {
        server_fail(s, w->client, "invalid block header: do all ranks run the same version of the library?");
        return;
    }
    if (!client_of(s, w->client, from)) {
        server_fail(s, w->client, "no memory to serve it");
        return;
    }
    struct rpc_slot *slot = (struct rpc_slot *)server_place_of(s, w->client, &place);
    slot->resume = slot->piece = 0;
    slot->streamed = 0;
    slot->bytes = (uint32_t)bytes;
    slot->header_bytes = (uint32_t)header_bytes;
    memcpy(slot->header, w, header_bytes);
    if (bytes > 0)
        memcpy(net_arena_request(&s->arena, (char *)slot), payload, bytes);
}

static void server_deliver(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                           const void *payload, size_t bytes) {
    struct server *s = arg;
    const struct wire_block *w = header;
    const struct wire_note *note = header;
    bool is_block = header_bytes >= sizeof *w && w->kind == WIRE_BLOCK;
    bool is_note = header_bytes == sizeof *note && note->kind == WIRE_NOTE;
    if ((!is_block && !is_note) || w->client >= (uint32_t)s->net->world->size) {
        log_error("discarded a message of %zu bytes that is not from a process of this job",
                  header_bytes + bytes);
        return;
    }
    if (is_block)
        deliver_block(s, from, w, header_bytes, payload, bytes);
    else if (net_flow_returned(s->flow, note->client, note->pool_buffers) != 0)
        server_fail(s, note->client, "it returned buffers that were not granted to it");
}

static void lost(void *arg, struct link_peer *peer, const char *why) {
    struct server *s = arg;
    if (!peer)
        server_fail(s, UINT32_MAX, why);
    for (int rank = 0; rank < s->net->world->size; rank++)
        if (s->clients[rank] && s->clients[rank]->peer == peer)
            server_fail(s, (uint32_t)rank, why);
}

/* ---- answering ---- */

static void release_pool_buffer(struct server *s, const struct rpc_slot *pooled) {
    net_flow_release(s->flow, (uint64_t)1 << ((size_t)((const char *)pooled - s->arena.pool_buffers) /
                                              s->arena.pool_buffer_bytes));
}

static void answer_has_left(struct link_send *send, int status) {
    struct rpc_slot *slot = (struct rpc_slot *)send;
    struct server *s = slot->server;
    (void)status;
    slot->leaving = false;
    s->leaving--;
    if ((char *)slot >= s->arena.pool_buffers)
        release_pool_buffer(s, slot);
}

/* Sends a piece of the answer to w, built at `data`, from the slot or pool buffer that holds it. */
static void send_answer(struct server *s, struct server_client *c, struct rpc_slot *from,
                        const struct wire_block *w, uint64_t offset, const void *data, size_t bytes,
                        const struct flow_ack *ack) {
    from->server = s;
    from->send.sent = answer_has_left;
    from->reply = (struct wire_reply){
        .kind = WIRE_ANSWER, .from = my_name(s), .op = w->op, .offset = w->answer_offset + offset};
    if (ack)
        ride(c, ack, &from->reply);
    from->leaving = true;
    s->leaving++;
    if (net_link_send(s->port, c->peer, &from->reply, sizeof from->reply, data, bytes, &from->send) != 1)
        answer_has_left(&from->send, 0);
}

/* ---- answers by net_reply ---- */

/* A further one is allocated only if several threads of the client wait and the network is slow. */
static struct late *free_late(struct server_client *c) {
    for (size_t i = 0; i < sizeof c->late / sizeof c->late[0]; i++)
        if (!c->late[i].leaving)
            return &c->late[i];
    struct late *extra = calloc(1, sizeof *extra);
    if (extra)
        extra->send.sent = extra_late_has_left;
    return extra;
}

static void send_late(struct server_client *c, struct late *l) {
    if (net_link_send(c->server->port, c->peer, &l->reply, sizeof l->reply, l->data, l->bytes, &l->send) != 1)
        l->send.sent(&l->send, 0);
}

void net_reply(struct net *n, int helper, uint64_t reply, const void *data, size_t bytes) {
    struct server *s = &n->served[helper].server;
    struct server_client *c = s->clients[reply >> 32];
    struct late *l = c ? free_late(c) : NULL;
    if (!l || bytes > sizeof l->data) {
        server_fail(s, (uint32_t)(reply >> 32),
                    c ? "no memory for an answer, or the answer is too long"
                      : "its waiting request went to a helper other than the first");
        return;
    }
    memcpy(l->data, data, bytes);
    l->bytes = bytes;
    l->leaving = true;
    l->reply = (struct wire_reply){.kind = WIRE_REPLY, .from = my_name(s), .op = (uint32_t)reply};
    if (reply == s->at_work && !s->at_once)
        s->at_once = l;
    else
        send_late(c, l);
}

/* ---- execution ---- */

/* *answer: where the handler is to write, and on return where the answer is. */
static enum net_result call_handler(struct server *s, struct rpc_slot *slot, char **answer,
                                    size_t answer_bytes, size_t answer_offset) {
    const struct wire_block *w = (const struct wire_block *)slot->header;
    struct net_block b = {.client = (int)w->client,
                          .header = w + 1,
                          .header_bytes = w->header_bytes,
                          .payload = net_arena_request(&s->arena, (char *)slot),
                          .bytes = slot->bytes,
                          .answer = answer ? *answer : NULL,
                          .answer_bytes = answer_bytes,
                          .answer_offset = answer_offset,
                          .resume = slot->resume,
                          .reply = (uint64_t)w->client << 32 | w->op};
    const struct net_service *service = &s->net->services[w->handler / NET_HANDLERS];
    PROBE4(serve, w->client, w->handler, slot->bytes, answer_bytes);
    enum net_result result = service->handlers[w->handler % NET_HANDLERS](service->arg, &b);
    slot->resume = result == NET_LATER ? b.resume : 0;
    log_trace(LOG_NET, "helper %d: a request of rank %u, handler %u, %zu bytes, answer %zu bytes: %s",
              s->index, w->client, w->handler, (size_t)slot->bytes, answer_bytes,
              result == NET_LATER ? "later, as a lock is taken" : "executed");
    if (answer)
        *answer = b.answer;
    s->computed += b.computed;
    return result;
}

/* A reply that the handler has given at once carries the acknowledgement. */
static void server_finish(struct server *s, const struct flow_turn *turn) {
    struct server_client *c = s->clients[turn->client];
    struct late *l = s->at_once;
    struct flow_ack ack;
    s->at_once = NULL;
    bool due = net_flow_done(s->flow, turn->client, l != NULL, &ack);
    if (l) {
        ride(c, &ack, &l->reply);
        send_late(c, l);
    } else if (due) {
        acknowledge(c, &ack);
    }
}

static enum net_result server_do_block(struct server *s, struct rpc_slot *slot,
                                       const struct flow_turn *turn) {
    const struct wire_block *w = (const struct wire_block *)slot->header;
    s->at_work = (uint64_t)w->client << 32 | w->op;
    bool later = w->handler != WIRE_NOTHING && call_handler(s, slot, NULL, 0, 0) == NET_LATER;
    s->at_work = NO_BLOCK;
    if (later) {
        if (s->at_once)
            send_late(s->clients[turn->client], s->at_once);
        s->at_once = NULL;
        return NET_LATER;
    }
    tally_add(&s->served_bytes, slot->bytes);
    server_finish(s, turn);
    return NET_DONE;
}

static enum net_result do_fetch(struct server *s, struct rpc_slot *slot, const struct flow_turn *turn) {
    const struct wire_block *w = (const struct wire_block *)slot->header;
    char *answer = net_arena_answer(&s->arena, (char *)slot);
    struct flow_ack ack;
    if (slot->leaving || call_handler(s, slot, &answer, w->answer_bytes, 0) == NET_LATER)
        return NET_LATER;
    tally_add(&s->served_bytes, w->answer_bytes);
    net_flow_done(s->flow, turn->client, true, &ack);
    send_answer(s, s->clients[turn->client], slot, w, 0, answer, w->answer_bytes, &ack);
    return NET_DONE;
}

/* Where the next piece of a streamed answer is built: in a pool buffer, if the rest is longer than the buffer of the
 * slot and one is free; otherwise there, once the piece before has left. */
struct piece_buffer {
    struct rpc_slot *slot; /* NULL: none is free */
    char *answer;
    size_t room;
};

static struct piece_buffer find_piece_buffer(struct server *s, struct rpc_slot *slot, uint64_t left) {
    const struct flow_limits *l = &s->net->limits;
    uint32_t index;
    if (left > l->bytes && net_flow_claim(s->flow, &index)) {
        char *pooled = net_arena_pool_buffer(&s->arena, index);
        return (struct piece_buffer){.slot = (struct rpc_slot *)pooled,
                                     .answer = net_arena_request(&s->arena, pooled),
                                     .room = l->pool_buffer_bytes};
    }
    return (struct piece_buffer){.slot = slot->leaving ? NULL : slot,
                                 .answer = net_arena_answer(&s->arena, (char *)slot),
                                 .room = l->bytes};
}

/* An answer of any length, in pieces. After a few of them it is the next client's turn. */
static enum net_result do_stream(struct server *s, struct rpc_slot *slot, const struct flow_turn *turn) {
    enum { PIECES_AT_ONCE = 8 };
    const struct wire_block *w = (const struct wire_block *)slot->header;
    for (int i = 0; i < PIECES_AT_ONCE; i++) {
        uint64_t offset = slot->streamed, left = w->answer_bytes - offset;
        struct piece_buffer b = find_piece_buffer(s, slot, left);
        size_t bytes = left < b.room ? (size_t)left : b.room;
        struct flow_ack ack;
        if (!b.slot || call_handler(s, slot, &b.answer, bytes, offset) == NET_LATER) {
            if (b.slot && b.slot != slot)
                release_pool_buffer(s, b.slot);
            return NET_LATER;
        }
        tally_add(&s->served_bytes, bytes);
        bool last = bytes == left;
        if (last)
            net_flow_done(s->flow, turn->client, true, &ack);
        slot->streamed += bytes;
        s->pieces++;
        send_answer(s, s->clients[turn->client], b.slot, w, offset, b.answer, bytes, last ? &ack : NULL);
        if (last)
            return NET_DONE;
    }
    return NET_LATER;
}

static uint32_t nth_bit(uint64_t bits, uint32_t n) {
    while (n-- > 0)
        bits &= bits - 1;
    return (uint32_t)__builtin_ctzll(bits);
}

/* A long answer, one piece in each pool buffer. The block is done with its last piece, which frees the remaining
 * pool buffers. */
static enum net_result do_fetch_into_pool(struct server *s, struct rpc_slot *slot,
                                          const struct flow_turn *turn) {
    const struct wire_block *w = (const struct wire_block *)slot->header;
    size_t each = s->net->limits.pool_buffer_bytes;
    uint32_t pool_buffers = (uint32_t)__builtin_popcountll(w->ticket.pool_buffers);
    uint32_t pieces = (uint32_t)((w->answer_bytes + each - 1) / each);
    for (; slot->piece < pieces; slot->piece++) {
        size_t offset = (size_t)slot->piece * each;
        size_t bytes = w->answer_bytes - offset < each ? w->answer_bytes - offset : each;
        struct rpc_slot *pooled =
            (struct rpc_slot *)net_arena_pool_buffer(&s->arena, nth_bit(w->ticket.pool_buffers, slot->piece));
        char *answer = net_arena_request(&s->arena, (char *)pooled);
        if (call_handler(s, slot, &answer, bytes, offset) == NET_LATER)
            return NET_LATER;
        tally_add(&s->served_bytes, bytes);
        struct flow_ack ack;
        bool last = slot->piece + 1 == pieces;
        if (last)
            net_flow_done(s->flow, turn->client, true, &ack);
        send_answer(s, s->clients[turn->client], pooled, w, offset, answer, bytes, last ? &ack : NULL);
    }
    for (uint32_t i = pieces; i < pool_buffers; i++)
        net_flow_release(s->flow, (uint64_t)1 << nth_bit(w->ticket.pool_buffers, i));
    return NET_DONE;
}

static enum net_result do_block(struct server *s, const struct flow_turn *turn) {
    struct rpc_slot *slot = (struct rpc_slot *)server_place_of(s, turn->client, &turn->place);
    const struct wire_block *w = (const struct wire_block *)slot->header;
    if (w->answer_bytes == 0)
        return server_do_block(s, slot, turn);
    if (w->ticket.pool_buffers)
        return do_fetch_into_pool(s, slot, turn);
    return (w->streams ? do_stream : do_fetch)(s, slot, turn);
}

unsigned net_server_work(struct server *s, unsigned *blocked) {
    enum { AT_ONCE = 64 }; /* then the network is polled again */
    unsigned done = 0;
    uint64_t pieces = s->pieces;
    struct flow_turn turn;
    *blocked = 0;
    net_flow_retry(s->flow);
    while (done < AT_ONCE && net_flow_turn(s->flow, &turn))
        if (do_block(s, &turn) == NET_LATER) {
            net_flow_later(s->flow, turn.client);
            tally_add(&s->retried, 1);
            ++*blocked;
        } else
            done++;
    tally_add(&s->served, done);
    return done + (unsigned)(s->pieces - pieces);
}

/* ---- opening and closing ---- */

int net_server_open(struct server *s, struct net *n, int index) {
    *s = (struct server){.net = n, .index = index, .at_work = NO_BLOCK};
    struct link_events events = {.arg = s, .arrived = server_deliver, .failed = lost};
    s->clients = calloc((size_t)n->world->size, sizeof(struct server_client *));
    int status = s->clients ? 0 : -ENOMEM;
    if (status == 0)
        status = net_flow_helper_open(&n->limits, (uint32_t)n->world->size, &s->flow);
    if (status != 0) {
        log_error("helper: no memory for a table of %d clients", n->world->size);
        return status;
    }
    status = net_arena_open(&s->arena, &n->limits, (uint32_t)n->world->size, net_server_header());
    return status != 0 ? status : net_link_port_open(n->link, 1 + index, &events, &s->port);
}

void net_server_close(struct server *s) {
    for (int rank = 0; s->clients && rank < s->net->world->size; rank++)
        free(s->clients[rank]);
    free(s->clients);
    if (s->flow)
        net_flow_helper_close(s->flow);
    net_arena_close(&s->arena);
}
