/* arrive.c: incoming messages. Numbered messages are processed in order, whatever transport they used. The engine
 * finds the matching receive, or keeps the message until one is posted.
 *
 *      peer.received  the next expected number;   peer.held -> message -> message   arrived early, by number
 *
 * The engine takes the message that it may have to queue before it is known whether it will queue it, so one is
 * always ready. It is filled in only if it was queued. */
#include <stdlib.h>

#include "mpi/p2p/p2p.h"

enum { INSIDE = 64 }; /* bytes of payload that a message holds inline */

struct message {
    struct head head;
    struct peer *peer;
    struct request *local; /* this process's own send, whose bytes are still in its buffer */
    struct message *next;
    char *payload;
    char inside[INSIDE];
};

static struct message *ready;     /* the message for the next call of the engine */
static struct message *free_ones; /* free list */

const struct head *message_head(const struct message *m) {
    return &m->head;
}

static struct message *message_new(void) {
    struct message *m = free_ones;
    if (m)
        free_ones = m->next;
    else
        m = malloc(sizeof *m);
    if (!m)
        p2p_out_of_memory("a message that arrived");
    return m;
}

void message_drop(struct message *m) {
    if (m->payload != m->inside)
        free(m->payload);
    m->next = free_ones;
    free_ones = m;
}

void arrive_open(void) {
    ready = message_new();
    ready->payload = ready->inside;
}

void arrive_close(void) {
    free(ready);
    ready = NULL;
    for (struct message *m = free_ones, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free_ones = NULL;
}

static uint64_t payload_bytes(const struct head *h) {
    return h->kind == HEAD_RTS ? sizeof(uint64_t) : h->bytes;
}

/* Provides space for the payload, inline or allocated. */
static void make_room(struct message *m, uint64_t bytes) {
    m->payload = bytes <= INSIDE ? m->inside : malloc(bytes);
    if (!m->payload)
        p2p_out_of_memory("a message that arrived");
}

static void keep(struct message *m, struct peer *p, const struct head *h, const void *payload) {
    m->head = *h;
    m->peer = p;
    m->local = NULL;
    make_room(m, payload_bytes(h));
    memcpy(m->payload, payload, payload_bytes(h));
}

/* ---- a message has been matched ---- */

static void set_outcome(struct request *r, const struct head *h) {
    uint64_t room = data_bytes(&r->data);
    r->got_source = h->source;
    r->got_tag = h->tag;
    r->got_bytes = h->bytes;
    if (UNLIKELY(h->bytes > room)) {
        r->got_bytes = room;
        r->error = MPI_ERR_TRUNCATE;
    }
}

static void receive(struct request *r, struct peer *p, const struct head *h, const void *payload) {
    r->posted = false;
    set_outcome(r, h);
    if (UNLIKELY(h->kind == HEAD_RTS)) {
        uint64_t address;
        memcpy(&address, payload, sizeof address);
        rendezvous_begin(r, p, h, address);
        return;
    }
    data_scatter(&r->data, 0, payload, r->got_bytes);
    if (h->kind == HEAD_SYNC)
        channel_control(p, HEAD_ACK, h->id, 0, 0, 0);
    request_finish(r);
}

/* From one buffer of this process to another. */
static void receive_local(struct request *r, struct request *from) {
    r->posted = false;
    set_outcome(r, &from->head);
    shape_copy(r->data.first, &r->data.layout.shape, from->data.first, &from->data.layout.shape,
               r->got_bytes);
    request_finish(r);
    request_finish(from);
}

void arrive_take(struct request *r, struct message *m) {
    if (m->local)
        receive_local(r, m->local);
    else
        receive(r, m->peer, &m->head, m->payload);
    message_drop(m);
}

/* Queries the engine. Returns the receive, or NULL: then `ready` is queued and must be filled in. */
static struct request *find_receive(const struct head *h) {
    void *found = NULL;
    int rc = match_arrive(p2p_engine, h->source, h->tag, h->context, ready, &found);
    if (rc < 0)
        p2p_out_of_memory("the queue of messages");
    return rc ? found : NULL;
}

static struct message *take_ready(void) {
    struct message *m = ready;
    ready = message_new();
    return m;
}

static void accept(struct peer *p, const struct head *h, const void *payload) {
    struct request *r = find_receive(h);
    if (LIKELY(r != NULL))
        receive(r, p, h, payload);
    else
        keep(take_ready(), p, h, payload);
}

void arrive_self(struct request *r) {
    struct peer *p = &p2p_peers[p2p_rank];
    struct request *to = find_receive(&r->head);
    p2p_counted.of.self++;
    p2p_counted.of.self_bytes += r->head.bytes;
    if (to) {
        receive_local(to, r);
        return;
    }
    struct message *m = take_ready();
    m->head = r->head;
    m->peer = p;
    m->local = NULL;
    m->payload = m->inside;
    if (r->head.kind != HEAD_EAGER) {
        m->local = r;
        return;
    }
    make_room(m, r->head.bytes);
    data_gather(m->payload, &r->data, 0, r->head.bytes);
    request_finish(r);
}

/* ---- in order ---- */

static void hold(struct peer *p, const struct head *h, const void *payload) {
    struct message *m = message_new(), **link = &p->held;
    keep(m, p, h, payload);
    while (*link && (int32_t)((*link)->head.sequence - h->sequence) < 0)
        link = &(*link)->next;
    m->next = *link;
    *link = m;
    p2p_counted.of.reordered++;
}

static void release_held(struct peer *p) {
    while (p->held && p->held->head.sequence == p->received) {
        struct message *m = p->held;
        p->held = m->next;
        p->received++;
        accept(p, &m->head, m->payload);
        message_drop(m);
    }
}

static void control(struct peer *p, const struct head *h, const void *payload) {
    struct request *r = (struct request *)(uintptr_t)h->id;
    switch (h->kind) {
    case HEAD_ACK:
    case HEAD_FIN:
        channel_paid(p);
        request_finish(r);
        break;
    case HEAD_CTS:
        channel_paid(p);
        rendezvous_cts(r, p, h);
        break;
    default:
        rendezvous_data(r, p, h, payload);
    }
}

void arrive(struct peer *p, const struct head *h, const void *payload) {
    if (UNLIKELY(h->kind > HEAD_NUMBERED)) {
        control(p, h, payload);
        return;
    }
    if (UNLIKELY(h->sequence != p->received)) {
        hold(p, h, payload);
        return;
    }
    p->received++;
    accept(p, h, payload);
    if (UNLIKELY(p->held != NULL))
        release_held(p);
}
