/* service_batch.c: batches of messages to one node.
 *
 * A message costs a system call at each end, several times the time that the protocol takes for it. An operation on
 * many pages causes as many messages of each kind at once, most of them to the same few nodes. A batch is a network
 * message without a header; its payload is the headers of its messages. A batch of one is sent as a message.
 *
 *      batches in use = open (one for a node at most) + being sent
 *
 * The network may reorder messages anyway, so a message with a payload may overtake the batch. */
#include "pages/service/service_batch.h"

#include <string.h>

#include "pages/service/service.h"

static void batch_give(struct service_batches *b, struct batch *x) {
    x->next = b->free;
    b->free = (uint32_t)(x - b->all) + 1;
}

void pages_batch_open(struct service_batches *b) {
    for (uint32_t i = BATCHES; i > 0; i--)
        batch_give(b, &b->all[i - 1]);
}

static void batch_has_left(struct link_send *link, int status) {
    struct batch *x = (struct batch *)((char *)link - offsetof(struct batch, link));
    (void)status; /* a failed node is reported separately */
    batch_give(&x->service->batches, x);
}

static void batch_leave(struct service *s, struct batch *x) {
    bool alone = x->count == 1;
    int status = net_channel_send(s->channel, x->node, alone ? x->wires : NULL, alone ? sizeof *x->wires : 0,
                                  alone ? NULL : x->wires, alone ? 0 : x->count * sizeof *x->wires, &x->link);
    if (status == 1)
        return; /* batch_has_left follows */
    batch_give(&s->batches, x);
    if (status < 0)
        pages_service_fail(s, "node %d cannot be reached: %s", x->node, strerror(-status));
}

unsigned pages_batch_send(struct service *s) {
    unsigned sent = 0;
    for (uint32_t next = s->batches.open; next; sent++) {
        struct batch *x = &s->batches.all[next - 1];
        s->batches.open = next = x->next;
        batch_leave(s, x);
    }
    return sent;
}

/* The batch for this node that has room, taken out of the list if it is full with one more. */
static struct batch *batch_find(struct service_batches *b, uint16_t node) {
    for (uint32_t *at = &b->open; *at; at = &b->all[*at - 1].next) {
        struct batch *x = &b->all[*at - 1];
        if (x->node != node)
            continue;
        if (x->count + 1 == BATCH_MESSAGES)
            *at = x->next;
        return x;
    }
    return NULL;
}

static struct batch *batch_begin(struct service *s, uint16_t node) {
    struct service_batches *b = &s->batches;
    if (!b->free)
        return NULL;
    uint32_t index = b->free - 1;
    struct batch *x = &b->all[index];
    b->free = x->next;
    x->link = (struct link_send){.sent = batch_has_left};
    x->service = s;
    x->node = node;
    x->count = 0;
    x->next = b->open;
    b->open = index + 1;
    return x;
}

bool pages_batch_add(struct service *s, const struct wire *w) {
    struct batch *x = batch_find(&s->batches, w->message.to);
    if (!x && !(x = batch_begin(s, w->message.to)))
        return false;
    x->wires[x->count++] = *w;
    if (x->count == BATCH_MESSAGES)
        batch_leave(s, x);
    return true;
}
