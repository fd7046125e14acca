/* flow.h: flow control between clients and helpers: which block may be sent, and to which buffer. Pure state
 * machines, without I/O or clock.
 *
 * A helper has B buffers of S bytes for each client (the client's *own* buffers), and a *credit pool* of a few larger
 * buffers for all clients together. A client never sends a block for which no buffer is free. So nothing has to be
 * allocated, refused or sent twice, however many clients there are. An operation is cut into blocks. Each block goes
 *
 *      own     to one of the client's own buffers, which takes one credit, or
 *      pooled  to a pool buffer that was granted to the client.
 *
 * The blocks of a client are numbered and executed in this order. An acknowledgement says how many are done, which
 * returns the credits. If B >= 4, it is delayed until half of the client's own buffers wait for it, or until all blocks
 * of the client that have arrived are executed. Replies carry acknowledgements too.
 *
 * *Size hints* ("flow intimation" in the paper): a block may say how many bytes of its operation follow. The helper
 * answers with free pool buffers, as a bit set, in an acknowledgement. The client sends its data into these at once, and
 * gets one acknowledgement for all of them (the last block is marked). If they do not suffice, and no other client wants
 * pool buffers, the helper grants more whenever a block has left its buffer, so that a long operation is not interrupted. A
 * refusal is an acknowledgement without pool buffers: no extra message, no wait. The client returns pool buffers that it
 * does not use with the last block that uses some of them, or by a note if there is no such block.
 *
 * If an operation fetches, its request is small and goes to an own buffer. The answer is built in a buffer of S
 * bytes that belongs to the request's buffer, or in all pool buffers of the grant at once. These are free again when
 * the helper calls net_flow_release, after its replies have been sent. An answer that may come in any number of pieces
 * needs no grant: the helper takes pool buffers for its pieces while some are free (net_flow_claim). */
#ifndef HEARTH_NET_FLOW_H
#define HEARTH_NET_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOW_POOL = 64 /* at most */, FLOW_BUFFERS = 1024 /* at most */ };

struct flow_limits {
    uint32_t buffers, bytes; /* B >= 1, S >= 64, a multiple of 64 */
    /* pool_buffers: 0 ... FLOW_POOL; pool_buffer_bytes: a multiple of 64, >= S if there are any */
    uint32_t pool_buffers, pool_buffer_bytes;
    bool size_hint;
    uint32_t first; /* number of the first block of each client */
};

/* Sent with every block. */
struct flow_ticket {
    uint32_t number; /* sequence number among this client's blocks to this helper; wraps */
    uint16_t own;    /* index of the own buffer, if FLOW_OWN */
    uint16_t flags;  /* FLOW_* */
    /* A bit set. With FLOW_OWN: the pool buffers for the answer, or 0. Otherwise the block goes to the pool buffer of
     * the lowest bit; further bits, only with FLOW_LAST, are pool buffers that are returned unused. */
    uint64_t pool_buffers;
    /* Size hint: bytes of the operation that neither this block nor the client's remaining credits will carry, although
     * pool buffers that the client has may carry them; 0: none. */
    uint64_t following;
};
enum {
    FLOW_OWN = 1,  /* goes to an own buffer */
    FLOW_LAST = 2, /* the client has no pool buffers after this block */
};

/* From the helper, alone or with a reply. */
struct flow_ack {
    uint32_t done;    /* number of blocks done, wraps */
    uint64_t granted; /* pool buffers; 0: none */
};

/* ---- a client, towards one helper ---- */

struct flow_client {
    struct flow_limits limits;
    uint32_t sent, done;                /* blocks, wrap */
    uint32_t next_own;                  /* own buffer for the next own block: a ring */
    uint32_t credits;                   /* free own buffers */
    uint64_t grant;                     /* pool buffers that may be used; 0: none */
    bool waiting;                       /* found no credit */
    bool asking;                        /* the last block has a size hint */
    uint8_t *kinds;                     /* ring of the blocks in flight, by number: own or pool */
    uint32_t ring;                      /* its length, a power of two */
    uint64_t waits, size_hints, grants; /* counters: found no credit; size hints sent; grants received */
};

/* Returns 0, -EINVAL or -ENOMEM. */
int net_flow_client_open(struct flow_client *c, const struct flow_limits *limits);
void net_flow_client_close(struct flow_client *c);

/* Allocates a buffer for the next block of an operation with `left` bytes remaining, including this block. `fetch`:
 * these are bytes of its answer. True: send the block with this ticket, for at most *room of these bytes (and, if it
 * fetches, with a request of at most S bytes). False: wait for an acknowledgement. */
bool net_flow_take(struct flow_client *c, bool fetch, uint64_t left, struct flow_ticket *ticket,
                   size_t *room);

/* The size hint of an operation that is not at its turn yet, with `left` bytes, for the last block of the one before. */
uint64_t net_flow_hint(struct flow_client *c, uint64_t left);

/* Returns 0, or -EPROTO for an acknowledgement that violates the protocol. */
int net_flow_acknowledge(struct flow_client *c, const struct flow_ack *ack);

/* Pool buffers that were granted and will not be used because nothing is left to send. The caller returns them to
 * the helper in a note. 0: none. */
uint64_t net_flow_give_back(struct flow_client *c);

/* Whether the block of this number is done; whether all blocks are. */
static inline bool net_flow_is_done(const struct flow_client *c, uint32_t number) {
    return (int32_t)(c->done - number) > 0;
}
static inline bool net_flow_is_idle(const struct flow_client *c) {
    return c->sent == c->done;
}

/* ---- a helper ---- */

struct flow_helper;

/* Where a block is stored: own buffer `index` of its client, or pool buffer `index`. */
struct flow_place {
    bool pooled;
    uint32_t index;
};

/* Bytes of state per active client. */
size_t net_flow_record(const struct flow_limits *limits);

int net_flow_helper_open(const struct flow_limits *limits, uint32_t clients, struct flow_helper **h);
void net_flow_helper_close(struct flow_helper *h);

/* A block has arrived. Returns 0 and sets *place. -EPROTO: the ticket violates the protocol (outside the window, a
 * buffer in use, a pool buffer that was not granted). -ENOMEM: only for a client's first block. On an error nothing
 * has changed. */
int net_flow_arrive(struct flow_helper *h, uint32_t client, const struct flow_ticket *ticket,
                    struct flow_place *place);

/* The next block to execute: round robin over the clients whose next block in order has arrived, except those
 * deferred since the last net_flow_retry. False: none. */
struct flow_turn {
    uint32_t client;
    struct flow_ticket ticket;
    struct flow_place place;
};
bool net_flow_turn(struct flow_helper *h, struct flow_turn *turn);

/* The block cannot be executed yet. The client gets its next turn after net_flow_retry. */
void net_flow_later(struct flow_helper *h, uint32_t client);
/* Makes all deferred clients ready again. Returns how many. */
uint32_t net_flow_retry(struct flow_helper *h);

/* The block is done. `reply`: a reply is sent now, which will carry *ack. True: send *ack (with the reply, or
 * alone). Pool buffers that hold an answer stay in use until net_flow_release. */
bool net_flow_done(struct flow_helper *h, uint32_t client, bool reply, struct flow_ack *ack);

/* Takes a free pool buffer for a piece of an answer, until net_flow_release. False: none is free, or size hints are off. */
bool net_flow_claim(struct flow_helper *h, uint32_t *index);

/* The replies in these pool buffers have been sent. */
void net_flow_release(struct flow_helper *h, uint64_t pool_buffers);

/* A note has arrived: the client returns these pool buffers. Returns 0 or -EPROTO. */
int net_flow_returned(struct flow_helper *h, uint32_t client, uint64_t pool_buffers);

/* Counters: size hints granted and refused, once for each acknowledgement that could have answered one; messages
 * that only acknowledge; and blocks that needed no such message. */
struct flow_counts {
    uint64_t granted, refused, acks, coalesced;
};
struct flow_counts net_flow_helper_counts(const struct flow_helper *h);

/* Walks everything and aborts if an invariant is broken. */
void net_flow_helper_check(const struct flow_helper *h);
void net_flow_client_check(const struct flow_client *c);

#endif
