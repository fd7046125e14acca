/* call.h: operations on the memory of other nodes, asked of their helpers.
 *
 * An operation is one or more blocks to one helper, each small enough for a buffer there (net/flow.h). Who starts it
 * gives a function that makes the next block, and, if the helpers answer, one that takes an answer in; who serves
 * it has registered a handler for it, which the helper's thread calls. Operations to the same helper are sent, and
 * done there, in the order in which they were started.
 *
 *      net_start -> next, next ... -> | network | -> handler -> answer -> take -> done
 *
 * One thread of a process starts operations and waits for them; that thread alone. */
#ifndef HEARTH_NET_CALL_H
#define HEARTH_NET_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/boot.h"
#include "net/heap.h"
#include "net/mailbox.h"
#include "net/shared.h"
#include "net/stripes.h"
#include "net/world.h"

enum { NET_HEADER = 160 /* bytes of the caller's own in a block's header */, NET_HANDLERS = 32 };

struct net; /* of a process */

/* ---- serving: in the helper's thread ---- */

/* A block, as its handler sees it. */
struct net_block {
    int client; /* rank */
    const void *header;
    size_t header_bytes;
    const void *payload; /* aligned to 16 */
    size_t bytes;

    /* The answer, or this part of it: `answer_bytes` bytes to be written to `answer` (aligned to 16), from byte
     * `answer_offset` of the block's whole answer on. 0 bytes: none is wanted. */
    void *answer;
    size_t answer_bytes, answer_offset;

    uint64_t resume; /* 0 at first; a handler that returns NET_LATER may keep here how far it came */
    uint64_t reply;  /* names this block to net_reply */
    size_t
        computed; /* set by the handler: bytes that it calculated with, for the rule by which the helper moves */
};

enum net_result {
    NET_DONE,
    NET_LATER, /* what it needs is held by another: called again, after others were served */
};
typedef enum net_result net_serve(void *arg, struct net_block *b);

/* A request from a process of this node (mailbox): NET_DONE and *answer, or NET_LATER: it is answered later,
 * by net_answer_near(cell). */
typedef enum net_result net_serve_near(void *arg, int process, const struct mailbox_request *r, int cell,
                                       int64_t *answer);

struct net_service {
    void *arg;
    net_serve *handlers[NET_HANDLERS];
    net_serve_near *near;
    void (*failed)(void *arg, int rank, const char *why); /* a process cannot be reached; any thread */
};

/* Answers that come later than the handler's return: to a block of another node whose operation waits for one (at most 32
 * bytes; one at a time per client), or to a process of this node. In the helper's thread only. */
void net_reply(struct net *n, int helper, uint64_t reply, const void *data, size_t bytes);
void net_answer_near(struct net *n, int cell, int64_t answer);

/* ---- opening and closing: collective, by all processes ---- */

/* What happened, for reports. Of helpers that run in this process: 0 in others; what they did is final once they have
 * ended, so that net_close gives it as well. */
struct net_counts {
    uint64_t blocks, bytes, waits, intimations, grants; /* asking */
    uint64_t served, served_bytes, near, granted, refused, retried, wakes, moves;
    double busy_seconds, seconds; /* helpers at work, of so much time */
    uint64_t buffers, buffer_bytes, spares, spare_bytes, arena_bytes;
};

int net_open(const struct net_boot *boot, struct net_world *world, const struct net_service *service,
             const void *comm, struct net **net);
void net_close(struct net *n, const struct net_boot *boot, struct net_counts *counts /* or NULL */);

struct net_stripes *net_stripes(struct net *n);
struct mailbox *net_mailbox(struct net *n);

/* ---- asking ---- */

struct net_op;

/* One block to be sent. */
struct net_out {
    void *header; /* NET_HEADER bytes to be written */
    size_t header_bytes;
    void *
        payload; /* `room` bytes, to be written; or let it point to memory that stays as it is until the operation is sent */
    size_t bytes;        /* of the payload */
    size_t answer_bytes; /* wanted */
};

/* Makes the next block of an operation: at most `room` bytes of payload and `answer_room` bytes of answer. Returns how
 * many of the operation's `left` bytes it covers, at least 1 unless none is left. */
typedef size_t net_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out);

/* Takes `bytes` bytes of answer in, from byte `offset` of the operation's answer on; called once for each piece, pieces
 * in any order. */
typedef void net_take(struct net_op *op, size_t offset, const void *data, size_t bytes);

struct net_op {
    /* Set by who starts it. */
    uint8_t handler;
    bool fetches;      /* left counts bytes of answer */
    bool waits;        /* has an answer that comes by net_reply */
    bool first_helper; /* must be served by helper 0 of the node */
    uint64_t
        left; /* bytes not yet in blocks; of the payload, or, if it fetches, of the answer. 0: one empty block */
    net_next *next;
    net_take *take;
    void *arg;

    /* Of net/. */
    uint8_t state;
    uint32_t id;
    uint32_t under_way; /* sends that still need the caller's memory */
    uint64_t asked, answered;
    struct net_op *after;
};

/* Starts it; `op` belongs to net until net_is_sent (and net_is_done, if there is an answer). Sends what it can at once. `node` is
 * another one than ours. */
void net_start(struct net *n, int node, struct net_op *op);

/* All blocks are sent, and the memory that they were sent from is free. An operation without answer is then no longer
 * known to net. */
bool net_is_sent(const struct net_op *op);
/* The answer is in. */
bool net_is_done(const struct net_op *op);

/* Receives what came, sends what may be sent. */
void net_progress(struct net *n);

/* Progress until then. Sleeps if it takes long. Ends the job through `failed` if nothing at all comes from that node for HEARTH_NET_TIMEOUT
 * seconds. */
void net_wait_sent(struct net *n, int node, struct net_op *op);
void net_wait_done(struct net *n, int node, struct net_op *op);

/* Everything asked of that node so far is done there; of all nodes. */
void net_fence(struct net *n, int node);
void net_fence_all(struct net *n);
bool net_is_fenced(struct net *n, int node);

void net_count(const struct net *n, struct net_counts *c);

#endif
