/* arrive.c: incoming messages. Numbered messages are processed in order, whatever transport they used. The engine
 * finds the matching receive, or keeps the message until one is posted.
 *
 *      peer.received  the next expected number;   peer.held -> message -> message   arrived early, by number
 *
 * match_arrive takes a message structure to queue, although the message may match and need none. One is therefore always
 * ready; it is filled in only after it was queued. */
#include "mpi/messages/transport/arrive.h"

#include <stdlib.h>

#include "base/log.h"
#include "mpi/messages/transport/p2p_channel.h"
#include "mpi/messages/transport/rendezvous.h"
#include "observe/probe.h"
#include "tables/shape.h"

struct match *p2p_engine;

enum { INSIDE = 64 }; /* bytes of payload that a message holds inline */

struct p2p_message {
    struct header header;
    struct p2p_peer *peer;
    struct p2p_request *local; /* this process's own send, whose bytes are still in its buffer */
    struct p2p_message *next;
    char *payload;
    char inside[INSIDE];
};

static struct p2p_message *ready;     /* the message for the next call of the engine */
static struct p2p_message *free_ones; /* free list */

const struct header *p2p_message_header(const struct p2p_message *m) {
    return &m->header;
}

static struct p2p_message *message_new(void) {
    struct p2p_message *m = free_ones;
    if (m)
        free_ones = m->next;
    else
        m = malloc(sizeof *m);
    if (!m)
        p2p_out_of_memory("a message that arrived");
    return m;
}

void p2p_message_drop(struct p2p_message *m) {
    if (m->payload != m->inside)
        free(m->payload);
    m->next = free_ones;
    free_ones = m;
}

void p2p_arrive_open(void) {
    ready = message_new();
    ready->payload = ready->inside;
}

void p2p_arrive_close(void) {
    free(ready);
    ready = NULL;
    for (struct p2p_message *m = free_ones, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free_ones = NULL;
}

/* Provides space for the payload, inline or allocated. */
static void arrive_make_room(struct p2p_message *m, uint64_t bytes) {
    m->payload = bytes <= INSIDE ? m->inside : malloc(bytes);
    if (!m->payload)
        p2p_out_of_memory("a message that arrived");
}

static void arrive_keep(struct p2p_message *m, struct p2p_peer *p, const struct header *h,
                        const void *payload) {
    m->header = *h;
    m->peer = p;
    m->local = NULL;
    arrive_make_room(m, header_payload(h));
    memcpy(m->payload, payload, header_payload(h));
}

/* ---- a message has been matched ---- */

static void set_outcome(struct p2p_request *r, const struct header *h) {
    uint64_t room = p2p_data_bytes(&r->data);
    r->got_source = h->source;
    r->got_tag = h->tag;
    r->got_bytes = h->bytes;
    if (UNLIKELY(h->bytes > room)) {
        r->got_bytes = room;
        r->error = MPI_ERR_TRUNCATE;
    }
}

static void arrive_receive(struct p2p_request *r, struct p2p_peer *p, const struct header *h,
                           const void *payload) {
    r->posted = false;
    set_outcome(r, h);
    PROBE4(match, r->got_source, r->got_tag, h->context, r->got_bytes);
    if (UNLIKELY(h->kind == HEADER_RTS)) {
        uint64_t address;
        memcpy(&address, payload, sizeof address);
        p2p_rendezvous_begin(r, p, h, address);
        return;
    }
    p2p_data_scatter(&r->data, 0, payload, r->got_bytes);
    if (h->kind == HEADER_SYNC)
        p2p_channel_control(p, HEADER_ACK, h->id, 0, 0, 0);
    p2p_request_finish(r);
}

/* From one buffer of this process to another. */
static void receive_local(struct p2p_request *r, struct p2p_request *from) {
    ASSERT(r->kind == REQUEST_RECV && !r->done && from->active);
    r->posted = false;
    set_outcome(r, &from->header);
    PROBE4(match, r->got_source, r->got_tag, from->header.context, r->got_bytes);
    shape_copy(r->data.first, &r->data.layout.shape, from->data.first, &from->data.layout.shape,
               r->got_bytes);
    p2p_request_finish(r);
    p2p_request_finish(from);
}

void p2p_arrive_take(struct p2p_request *r, struct p2p_message *m) {
    if (m->local)
        receive_local(r, m->local);
    else
        arrive_receive(r, m->peer, &m->header, m->payload);
    p2p_message_drop(m);
}

/* Queries the engine. Returns the receive, or NULL: then `ready` is queued and must be filled in. */
static struct p2p_request *find_receive(const struct header *h) {
    void *found = NULL;
    uint64_t begin = p2p_count_search_begin();
    int rc = match_arrive(p2p_engine, h->source, h->tag, h->context, ready, &found);
    p2p_count_search_end(begin);
    if (rc < 0)
        p2p_out_of_memory("the queue of messages");
    return rc ? found : NULL;
}

static struct p2p_message *take_ready(void) {
    struct p2p_message *m = ready;
    log_trace(LOG_MESSAGES, "a message is unexpected: no receive is posted for it");
    ready = message_new();
    return m;
}

static void arrive_accept(struct p2p_peer *p, const struct header *h, const void *payload) {
    struct p2p_request *r = find_receive(h);
    if (LIKELY(r != NULL))
        arrive_receive(r, p, h, payload);
    else
        arrive_keep(take_ready(), p, h, payload);
}

void p2p_arrive_self(struct p2p_request *r) {
    struct p2p_peer *p = p2p_peer_of(p2p_rank);
    struct p2p_request *to = find_receive(&r->header);
    p2p_counted.of.self++;
    p2p_counted.of.self_bytes += r->header.bytes;
    if (to) {
        receive_local(to, r);
        return;
    }
    struct p2p_message *m = take_ready();
    m->header = r->header;
    m->peer = p;
    m->local = NULL;
    m->payload = m->inside;
    if (r->header.kind != HEADER_EAGER) {
        m->local = r;
        return;
    }
    arrive_make_room(m, r->header.bytes);
    p2p_data_gather(m->payload, &r->data, 0, r->header.bytes);
    p2p_request_finish(r);
}

/* ---- in order ---- */

static void arrive_hold(struct p2p_peer *p, const struct header *h, const void *payload) {
    ASSERT((int32_t)(h->sequence - p->received) > 0);
    struct p2p_message *m = message_new(), **link = &p->held;
    arrive_keep(m, p, h, payload);
    while (*link && (int32_t)((*link)->header.sequence - h->sequence) < 0)
        link = &(*link)->next;
    m->next = *link;
    *link = m;
    p2p_counted.of.reordered++;
    log_trace(LOG_MESSAGES, "a message of rank %d is held: number %u came before %u", p->head.rank,
              h->sequence, p->received);
}

static void release_held(struct p2p_peer *p) {
    while (p->held && p->held->header.sequence == p->received) {
        struct p2p_message *m = p->held;
        p->held = m->next;
        ASSERT(m->peer == p && m->header.kind <= HEADER_NUMBERED);
        p->received++;
        arrive_accept(p, &m->header, m->payload);
        p2p_message_drop(m);
    }
}

static void control(struct p2p_peer *p, const struct header *h, const void *payload) {
    struct p2p_request *r = (struct p2p_request *)(uintptr_t)h->id;
    switch (h->kind) {
    case HEADER_ACK:
    case HEADER_FIN:
        p2p_channel_paid(p);
        p->announced -= h->kind == HEADER_FIN;
        p2p_request_finish(r);
        break;
    case HEADER_CTS:
        p2p_channel_paid(p);
        p->announced--;
        p2p_rendezvous_cts(r, p, h);
        break;
    case HEADER_HELP:
        p2p_rendezvous_help(r, p, h, payload);
        break;
    case HEADER_HELPED:
        p2p_channel_paid(p);
        p2p_rendezvous_helped(r, p, h);
        break;
    default:
        p2p_rendezvous_data(r, p, h, payload);
    }
}

void p2p_arrive_message(struct p2p_peer *p, const struct header *h, const void *payload) {
    if (UNLIKELY(h->kind > HEADER_NUMBERED)) {
        control(p, h, payload);
        return;
    }
    if (UNLIKELY(h->sequence != p->received)) {
        arrive_hold(p, h, payload);
        return;
    }
    p->received++;
    arrive_accept(p, h, payload);
    if (UNLIKELY(p->held != NULL))
        release_held(p);
}

static void arrive_batch(struct p2p_peer *p, const char *at, uint64_t bytes) {
    for (const char *end = at + bytes; at < end;) {
        struct header h;
        memcpy(&h, at, sizeof h); /* the network may deliver at any alignment */
        p2p_arrive_message(p, &h, at + sizeof h);
        at += round_up(sizeof h + header_payload(&h), _Alignof(struct header));
    }
}

void p2p_arrive_packet(struct p2p_peer *p, const struct header *h, const void *payload) {
    if (UNLIKELY(h->kind == HEADER_BATCH))
        arrive_batch(p, payload, h->bytes);
    else
        p2p_arrive_message(p, h, payload);
}
