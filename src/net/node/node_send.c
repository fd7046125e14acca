/* node_send.c: sends messages.
 *
 * A message goes through the sender's box at the receiver, or through the queue if the sender has none. To save
 * boxes for pairs that exchange more than a few messages at the start, a sender requests one only after some
 * messages, unless there is one for every process. A box is then kept for good.
 *
 * Messages of one sender to one receiver are read in the order sent. So a sender switches from the queue to its box
 * only when the receiver has read all its messages in the queue. A stream would never reach that point. So once the
 * queue is full and the sender wants a box, it writes no more to the queue. */
#include <errno.h>

#include "base/compiler.h"
#include "base/log.h"
#include "net/node/node.h"

enum { BOX_AFTER = 16 }; /* messages, where boxes are scarce */

static void open_box(struct net_node *n, struct node_peer *peer, uint32_t box) {
    const struct plan *p = &peer->plan;
    void *base = peer->segment.base;
    struct box_shared *shared = &net_plan_boxes(p, base)[box];
    /* Pairs with net_box_read, which reads it after the word of the first message. */
    atomic_store_explicit(&shared->owner, (uint32_t)n->rank + 1, memory_order_relaxed);
    net_box_write_open(&peer->box, shared, net_plan_box(p, base, box), p->box_bytes,
                       &net_plan_doorbells(p, base)[box]);
}

/* Reads first, so that the counter of requests does not overflow. */
static void ask_for_box(struct net_node *n, struct node_peer *peer) {
    _Atomic uint32_t *taken = &peer->control->taken;
    uint32_t box = atomic_load_explicit(taken, memory_order_relaxed);
    if (box < peer->plan.boxes)
        box = atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
    if (box < peer->plan.boxes)
        open_box(n, peer, box);
    else
        peer->boxless = true;
    peer->waits = false;
}

static bool wants_box(const struct net_node *n, const struct node_peer *peer) {
    return !peer->boxless && (peer->queued >= BOX_AFTER || peer->plan.boxes + 1 >= (uint32_t)n->count);
}

/* The first messages, and those of a sender without a box. */
static struct node_record *reserve_without_box(struct net_node *n, struct node_peer *peer, size_t size) {
    if (wants_box(n, peer) && net_queue_is_drained(&peer->queue))
        ask_for_box(n, peer);
    if (peer->box.ring)
        return net_box_reserve(&peer->box, size);
    if (peer->waits)
        return NULL;
    struct node_record *record = net_queue_reserve(&peer->queue, size);
    peer->queued += record && peer->queued < BOX_AFTER;
    peer->waits = !record && wants_box(n, peer);
    return record;
}

int net_node_reserve(struct net_node *n, int to, const void *header, size_t bytes, void **payload) {
    struct node_peer *peer = &n->peers[to];
    size_t size = net_record_size(n->header_room, bytes);
    struct node_record *record;
    ASSERT(!n->reserved.peer);
    if (UNLIKELY(bytes > n->eager))
        return -EMSGSIZE;
    if (LIKELY(peer->box.ring != NULL))
        record = net_box_reserve(&peer->box, size);
    else
        record = reserve_without_box(n, peer, size);
    if (UNLIKELY(!record))
        return -EAGAIN;
    net_record_copy_header(record->bytes, header, n->header_bytes);
    *payload = record->bytes + n->header_room;
    n->reserved =
        (struct reserved){.peer = peer, .record = record, .size = size, .word = (uint32_t)bytes + 1};
    return 0;
}

void net_node_commit(struct net_node *n) {
    struct reserved *r = &n->reserved;
    ASSERT(r->peer);
    if (LIKELY(r->peer->box.ring != NULL))
        net_box_commit(&r->peer->box, r->record, r->size, r->word);
    else
        net_queue_commit(r->record, n->rank, r->word);
    r->peer = NULL;
}

int net_node_send(struct net_node *n, int peer, const void *header, const void *payload, size_t bytes) {
    void *place;
    int err = net_node_reserve(n, peer, header, bytes, &place);
    if (UNLIKELY(err))
        return err;
    net_record_copy_payload(place, payload, bytes);
    net_node_commit(n);
    return 0;
}
