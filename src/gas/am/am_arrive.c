/* am_arrive.c: delivers active messages from other nodes. Runs in the helper threads of the node's leader process, and
 * writes to the boxes of all ranks of the node. It never waits: a request for which no place is free is parked, and so are
 * all requests that follow until it has been fetched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/job_end.h"
#include "base/log.h"
#include "gas/am/am_remote.h"

/* Per sender: the place that the parts of its message are written to. One helper serves a sender, so each entry has one
 * writer. */
enum { NONE = -1, PARKED = -2 };
struct collected {
    int32_t place;  /* in the target's box, or NONE or PARKED */
    int32_t local;  /* the target: its number in the node */
    uint32_t bytes; /* so far */
};
static struct collected *collecting; /* [size] */

int gas_arrive_open(void) {
    if (gas_job.world->local != 0)
        return 0;
    collecting = malloc((size_t)gas_job.size * sizeof *collecting);
    if (!collecting) {
        log_error("active messages: no memory for a table of %d ranks", gas_job.size);
        return -ENOMEM;
    }
    for (int i = 0; i < gas_job.size; i++)
        collecting[i].place = NONE;
    return 0;
}

void gas_arrive_close(void) {
    free(collecting);
    collecting = NULL;
}

static _Noreturn void arrive_end_job(const struct net_block *b) {
    log_error("active messages: invalid block header from rank %d; the job is ended", b->client);
    job_end(EXIT_FAILURE);
}

static int local_rank(const struct net_block *b, uint32_t rank) {
    if (rank >= (uint32_t)gas_job.size || !gas_same_node(rank))
        arrive_end_job(b);
    return (int)gas_job.world->local_of[rank];
}

/* Takes a place in the box of a rank. Returns -1 if the request must be parked: no place is free, or earlier requests are
 * parked and must stay ahead of it. The load pairs with gas_box_unpark: once `parked` is 0 again, the parked requests are
 * in their queues. Only this thread parks requests of its senders, so none of theirs is parked between load and take. */
static int arrive_take_place(int local) {
    struct am_box *b = gas_box_of(local);
    return atomic_load_explicit(&b->parked, memory_order_acquire) > 0 ? -1 : gas_bits_take(&b->free_places);
}

/* The slot of a rank of this node with a request under way. Pairs with am_post in am.c. */
static struct am_slot *arrive_slot_of(const struct net_block *b, int local, uint32_t slot) {
    if (slot >= AM_SLOTS ||
        atomic_load_explicit(&gas_box_of(local)->slots[slot].in_use, memory_order_acquire) == 0)
        arrive_end_job(b);
    return &gas_box_of(local)->slots[slot];
}

enum net_result gas_am_serve_part(void *arg, struct net_block *b) {
    struct remote_part_header h;
    (void)arg;
    if (b->header_bytes != sizeof h)
        arrive_end_job(b);
    memcpy(&h, b->header, sizeof h);
    int local = local_rank(b, h.rank);
    struct collected *c = &collecting[b->client];
    if (c->place == NONE) {
        int place = arrive_take_place(local);
        *c = (struct collected){.place = place < 0 ? PARKED : place, .local = local};
    }
    if (c->local != local || h.offset != c->bytes || b->bytes > AM_MEDIUM - c->bytes)
        arrive_end_job(b);
    if (c->place >= 0)
        memcpy(gas_box_place_data(local, c->place, AM_REQUEST) + h.offset, b->payload, b->bytes);
    c->bytes += (uint32_t)b->bytes;
    return NET_DONE;
}

/* The place of the request, or -1. */
static int arrive_place_of(const struct remote_request_header *h, const struct net_block *b, int local) {
    struct collected *c = &collecting[b->client];
    if (b->bytes + (h->parted ? c->bytes : 0) != gas_remote_payload(&h->message) ||
        (h->parted != 0) != (c->place != NONE))
        arrive_end_job(b);
    if (h->parted) {
        int place = c->place;
        if (c->local != local)
            arrive_end_job(b);
        c->place = NONE;
        return place < 0 ? -1 : place;
    }
    int place = arrive_take_place(local);
    if (place >= 0 && b->bytes > 0)
        memcpy(gas_box_place_data(local, place, AM_REQUEST), b->payload, b->bytes);
    return place;
}

enum net_result gas_am_serve(void *arg, struct net_block *b) {
    struct remote_request_header h;
    (void)arg;
    if (b->header_bytes != sizeof h || b->bytes > AM_MEDIUM)
        arrive_end_job(b);
    memcpy(&h, b->header, sizeof h);
    if (!gas_remote_is_valid(&h.message, (uint32_t)b->client) || h.slot >= AM_SLOTS ||
        (h.parted && b->bytes > 0))
        arrive_end_job(b);
    int local = local_rank(b, h.rank), place = arrive_place_of(&h, b, local);
    if (UNLIKELY(h.message.handler == AM_LEAVE))
        gas_box_quit(local, h.message.args[0]);
    if (place < 0) {
        gas_box_park(local, &(struct am_parked){.source = (uint32_t)b->client,
                                                .slot = h.slot,
                                                .bytes = gas_remote_payload(&h.message)});
        return NET_DONE;
    }
    struct am_box *box = gas_box_of(local);
    box->places[place].request = h.message;
    box->places[place].slot = h.slot;
    gas_box_post_remote(local, (uint32_t)b->client, place);
    return NET_DONE;
}

/* Answers in pieces of any size: the message, then its payload. */
enum net_result gas_am_serve_pull(void *arg, struct net_block *b) {
    struct remote_pull_header h;
    (void)arg;
    if (b->header_bytes != sizeof h)
        arrive_end_job(b);
    memcpy(&h, b->header, sizeof h);
    int local = local_rank(b, h.rank);
    const struct am_message *m = &arrive_slot_of(b, local, h.slot)->request;
    uint64_t at = h.offset + b->answer_offset;
    if (h.offset > sizeof *m + AM_MEDIUM || at + b->answer_bytes > sizeof *m + gas_remote_payload(m))
        arrive_end_job(b);
    size_t left = b->answer_bytes, head = at < sizeof *m ? sizeof *m - (size_t)at : 0;
    head = head < left ? head : left;
    if (head > 0)
        memcpy(b->answer, (const char *)m + at, head);
    if (left > head)
        memcpy((char *)b->answer + head,
               gas_box_slot_data(local, (int)h.slot, AM_REQUEST) + (at + head - sizeof *m), left - head);
    return NET_DONE;
}

enum net_result gas_am_serve_reply(void *arg, struct net_block *b) {
    struct remote_reply_header h;
    (void)arg;
    if (b->header_bytes != sizeof h)
        arrive_end_job(b);
    memcpy(&h, b->header, sizeof h);
    int local = local_rank(b, h.rank);
    bool is_none = h.message.kind == AM_NO_REPLY;
    if (!is_none && !gas_remote_is_valid(&h.message, (uint32_t)b->client))
        arrive_end_job(b);
    if (h.offset > gas_remote_payload(&h.message) || b->bytes > gas_remote_payload(&h.message) - h.offset)
        arrive_end_job(b);
    struct am_slot *slot = arrive_slot_of(b, local, h.slot);
    if (b->bytes > 0)
        memcpy(gas_box_slot_data(local, (int)h.slot, AM_REPLY) + h.offset, b->payload, b->bytes);
    if (h.offset + b->bytes < gas_remote_payload(&h.message))
        return NET_DONE; /* more parts follow */
    if (is_none) {
        gas_box_release(gas_box_of(local), (int)h.slot);
        return NET_DONE;
    }
    slot->reply = h.message;
    gas_box_post_remote(local, (uint32_t)b->client, (int)h.slot | AM_IS_REPLY);
    return NET_DONE;
}
