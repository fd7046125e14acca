/* Active messages to other nodes.
 *
 * A request stays in its slot and is sent from there. The helper of the target's node puts it into one of the
 * target's places and says so, or says at once that there is none: then it is sent again a little later. So
 * the network never waits for a handler of the program, and what others ask of that helper is not held up.
 *
 *      slot  -> asked -> taken:   nothing more is needed of the slot but the reply
 *                     -> refused: after a while, asked again
 *
 * What is sent has left when the call returns: a rank that then computes for a long time, without a poll,
 * keeps nobody waiting. That takes no longer than the network does. Only what was refused needs its sender to
 * poll.
 *
 * A payload that does not fit into a block goes ahead in parts. The target's helper collects them for one
 * request of a sender at a time, so parts and request are started as one. */
#include "gas/far.h"

#include <pthread.h>
#include <string.h>

#include "gas/ask.h"
#include "gas/serve.h"

enum { FIRST_PAUSE_NS = 10000, LAST_PAUSE_NS = 1000000 };

static struct request {
    struct net_op op, parts;
    bool parted;
    int slot, rank;
    uint32_t done; /* bytes in parts */
    uint64_t taken, again_at, pause;
} requests[AM_SLOTS];

/* Bits of `requests`. Set by who starts one, cleared by who tends them. */
static _Atomic uint32_t asked, refused;
static pthread_mutex_t tending = PTHREAD_MUTEX_INITIALIZER; /* before that of ask.c */
static size_t block_bytes;                                  /* that a helper takes at a time */

static struct message *request_of(const struct request *r) {
    return &box_mine()->slots[r->slot].request;
}

/* ---- requests ---- */

static size_t next_part(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct request *r = op->arg;
    size_t bytes = op->left < room ? (size_t)op->left : room;
    (void)answer_room;
    struct far_part_header h = {.rank = (uint32_t)r->rank, .offset = r->done};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->payload = box_slot_data(gas.world->local, r->slot, AM_REQUEST) + r->done;
    out->bytes = bytes;
    r->done += (uint32_t)bytes;
    return bytes;
}

static size_t next_request(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct request *r = op->arg;
    (void)room, (void)answer_room;
    struct far_request_header h = {
        .message = *request_of(r), .rank = (uint32_t)r->rank, .slot = (uint32_t)r->slot, .parted = r->parted};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->payload = box_slot_data(gas.world->local, r->slot, AM_REQUEST);
    out->bytes = r->parted ? 0 : far_payload(&h.message);
    out->answer_bytes = sizeof r->taken;
    return sizeof r->taken;
}
_Static_assert(sizeof(struct far_request_header) <= NET_HEADER, "it fits into a block's header");
_Static_assert(sizeof(struct far_reply_header) <= NET_HEADER, "it fits into a block's header");

static void take_answer(struct net_op *op, size_t offset, const void *data, size_t bytes) {
    struct request *r = op->arg;
    memcpy((char *)&r->taken + offset, data, bytes);
}

static void ask(struct request *r) {
    int node = (int)gas.world->node_of[r->rank];
    uint32_t bytes = far_payload(request_of(r));
    r->parted = bytes > block_bytes;
    r->done = 0;
    r->taken = 0;
    r->op = (struct net_op){.handler = GAS_AM,
                            .fetches = true,
                            .left = sizeof r->taken,
                            .next = next_request,
                            .take = take_answer,
                            .arg = r};
    if (r->parted) {
        r->parts = (struct net_op){.handler = GAS_AM_PART, .left = bytes, .next = next_part, .arg = r};
        ask_start_both(node, &r->parts, &r->op);
    } else
        ask_start(node, &r->op);
    ask_wait_sent(node, &r->op);
    bits_set(&asked, r->slot);
}

void far_request(int slot, int rank) {
    struct request *r = &requests[slot];
    r->slot = slot;
    r->rank = rank;
    r->pause = FIRST_PAUSE_NS;
    ask(r);
}

static bool tend_asked(struct request *r) {
    if (!ask_is_done(&r->op) || (r->parted && !ask_is_sent(&r->parts)))
        return false;
    if (!r->taken) {
        r->again_at = clock_ns() + r->pause;
        r->pause = r->pause < LAST_PAUSE_NS ? 2 * r->pause : LAST_PAUSE_NS;
        bits_set(&refused, r->slot); /* before the other goes: it is under way all the time */
    }
    bits_take_one(&asked, r->slot);
    if (r->taken)
        box_release(box_mine(), r->slot);
    return true;
}

static bool tend_refused(struct request *r) {
    if (clock_ns() < r->again_at)
        return false;
    ask(r);
    bits_take_one(&refused, r->slot);
    return true;
}

/* ---- replies ---- */

struct reply {
    struct net_op op;
    int place;
    uint32_t done;
};

static size_t next_reply(struct net_op *op, size_t room, size_t answer_room, struct net_out *out) {
    struct reply *r = op->arg;
    const struct am_place *p = &box_mine()->places[r->place];
    size_t bytes = op->left < room ? (size_t)op->left : room;
    (void)answer_room;
    struct far_reply_header h = {
        .message = p->reply, .rank = p->request.source, .slot = p->slot, .offset = r->done};
    memcpy(out->header, &h, sizeof h);
    out->header_bytes = sizeof h;
    out->payload = box_place_data(gas.world->local, r->place, AM_REPLY) + r->done;
    out->bytes = bytes;
    r->done += (uint32_t)bytes;
    return bytes;
}

void far_reply(int place) {
    const struct am_place *p = &box_mine()->places[place];
    int node = (int)gas.world->node_of[p->request.source];
    struct reply r = {.place = place,
                      .op = {.handler = GAS_AM_REPLY, .left = far_payload(&p->reply), .next = next_reply}};
    r.op.arg = &r;
    ask_start(node, &r.op);
    ask_wait_sent(node, &r.op);
    bits_set(&box_mine()->free_places, place);
}

/* ---- all of them ---- */

bool far_is_under_way(uint32_t slots) {
    return (atomic_load_explicit(&asked, memory_order_relaxed) |
            atomic_load_explicit(&refused, memory_order_relaxed)) &
           slots;
}

/* Acquires, so that what the one who set a bit wrote before is seen. */
static uint32_t seen(_Atomic uint32_t *word) {
    return atomic_load_explicit(word, memory_order_acquire);
}

bool far_tend(void) {
    bool happened = false;
    if (pthread_mutex_trylock(&tending) != 0)
        return false;
    for (uint32_t bits = seen(&asked); bits != 0; bits &= bits - 1)
        happened |= tend_asked(&requests[__builtin_ctz(bits)]);
    for (uint32_t bits = seen(&refused); bits != 0; bits &= bits - 1)
        happened |= tend_refused(&requests[__builtin_ctz(bits)]);
    pthread_mutex_unlock(&tending);
    return happened;
}

int far_open(void) {
    struct net_counts counts;
    ask_count(&counts);
    block_bytes = (size_t)counts.buffer_bytes;
    return 0;
}
