/* am_remote.c: active messages to other nodes.
 *
 * A request stays in its slot and is sent from there. The helper of the target's node puts it into one of the target's
 * places, or parks it if none is free: the target then fetches it from the slot, through the helper of this node, when
 * it polls (am_pull.c). So the network never waits for a handler of the program, other requests to that helper are not
 * delayed, and the sender has nothing more to do: it may compute for a long time without a poll.
 *
 *      slot --> place --> queue --> handler --> reply, or notice that there is none --> slot is free
 *           --> parked --> pulled into a place --> ...
 *
 * A message has left when the call returns. That takes no longer than the network does.
 *
 * A payload that does not fit into a block is sent ahead in parts. The target's helper collects the parts of one
 * request per sender at a time, so parts and request are started together. */
#include "gas/am/am_remote.h"

#include <string.h>

#include "gas/memory/ask.h"

struct am_request {
    struct net_op op, parts;
    bool parted;
    int slot, rank;
    uint32_t done; /* bytes sent in parts */
};

static size_t block_bytes; /* largest payload of a block */

static struct am_message *remote_request_of(const struct am_request *r) {
    return &gas_box_mine()->slots[r->slot].request;
}

/* ---- requests ---- */

static size_t next_part(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct am_request *r = op->arg;
    size_t bytes = op->left < room ? (size_t)op->left : room;
    (void)answer_room;
    struct remote_part_header h = {.rank = (uint32_t)r->rank, .offset = r->done};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->payload = gas_box_slot_data(gas_job.world->local, r->slot, AM_REQUEST) + r->done;
    out->bytes = bytes;
    r->done += (uint32_t)bytes;
    return bytes;
}

static size_t next_request(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct am_request *r = op->arg;
    (void)room, (void)answer_room;
    struct remote_request_header h = {.message = *remote_request_of(r),
                                      .rank = (uint32_t)r->rank,
                                      .slot = (uint32_t)r->slot,
                                      .parted = r->parted};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->payload = gas_box_slot_data(gas_job.world->local, r->slot, AM_REQUEST);
    out->bytes = r->parted ? 0 : gas_remote_payload(&h.message);
    return out->bytes;
}
_Static_assert(sizeof(struct remote_request_header) <= NET_HEADER, "it fits into a block's header");
_Static_assert(sizeof(struct remote_reply_header) <= NET_HEADER, "it fits into a block's header");

void gas_remote_request(int slot, int rank) {
    struct am_request r = {.slot = slot, .rank = rank};
    int node = (int)gas_job.world->node_of[rank];
    uint32_t bytes = gas_remote_payload(remote_request_of(&r));
    r.parted = bytes > block_bytes;
    r.op = (struct net_op){.handler = GAS_AM, .left = r.parted ? 0 : bytes, .next = next_request, .arg = &r};
    if (r.parted) {
        r.parts = (struct net_op){.handler = GAS_AM_PART, .left = bytes, .next = next_part, .arg = &r};
        gas_ask_start_both(node, &r.parts, &r.op);
        gas_ask_wait_sent(node, &r.parts);
    } else
        gas_ask_start(node, &r.op);
    gas_ask_wait_sent(node, &r.op);
}

/* ---- replies ---- */

struct reply {
    struct net_op op;
    int place;
    uint32_t done;
};

static size_t next_reply(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct reply *r = op->arg;
    const struct am_place *p = &gas_box_mine()->places[r->place];
    size_t bytes = op->left < room ? (size_t)op->left : room;
    (void)answer_room;
    struct remote_reply_header h = {
        .message = p->reply, .rank = p->request.source, .slot = p->slot, .offset = r->done};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->payload = gas_box_place_data(gas_job.world->local, r->place, AM_REPLY) + r->done;
    out->bytes = bytes;
    r->done += (uint32_t)bytes;
    return bytes;
}

void gas_remote_reply(int place) {
    const struct am_place *p = &gas_box_mine()->places[place];
    int node = (int)gas_job.world->node_of[p->request.source];
    struct reply r = {
        .place = place,
        .op = {.handler = GAS_AM_REPLY, .left = gas_remote_payload(&p->reply), .next = next_reply}};
    r.op.arg = &r;
    gas_ask_start(node, &r.op);
    gas_ask_wait_sent(node, &r.op);
    gas_bits_set(&gas_box_mine()->free_places, place);
}

int gas_remote_open(void) {
    struct net_counts counts;
    gas_ask_count(&counts);
    block_bytes = (size_t)counts.buffer_bytes;
    return 0;
}
