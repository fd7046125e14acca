/* flow.h: who may send a block to a helper, and where it lands. Only states and numbers: no I/O, no clock.
 *
 * A helper has B buffers of S bytes for each client, and a few larger *spare* ones for all of them
 * together. A client never sends a block for which no buffer is free, so nothing has to be allocated,
 * refused or sent twice, however many clients there are. An operation is cut into blocks; each block
 *
 *      own     lands in one of the client's own buffers, a credit each, or
 *      spare   in a spare one that was granted.
 *
 * Blocks of a client are numbered and done in this order. An acknowledgement says how many are done, which
 * gives the credits back; where B >= 4 it is put off until half of the client's buffers wait for it or
 * none of its blocks is left to be done. Replies carry it as well.
 *
 * *Intimation*: a block may say how many bytes of its operation will follow. The helper may answer, in the
 * acknowledgement that it would send anyway, with spare buffers: a set, as bits of a word. The client
 * sends the rest of what it has at once into these, and gets one acknowledgement for all of them (the last
 * one is marked). A refusal is an acknowledgement without spares: no message more, no wait. A client has
 * at most one grant at a time; what it does not use it gives back, with the last block that uses some of
 * it, or by a note if there is none.
 *
 * Of an operation that fetches, the request lands in an own buffer and is small; the answer is made in a
 * buffer that belongs to the request's (as long as S), or in all spares of the grant at once. These spares
 * are free again when the helper says so (flow_release): when its replies have left. */
#ifndef HEARTH_NET_FLOW_H
#define HEARTH_NET_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOW_SPARES = 64 /* most */, FLOW_BUFFERS = 1024 /* most */ };

struct flow_limits {
    uint32_t buffers, bytes; /* B >= 1, S >= 64, a multiple of 64 */
    uint32_t spares,
        spare_bytes; /* spares: 0 ... FLOW_SPARES; bytes a multiple of 64, >= S if there are any */
    bool intimation;
};

/* With every block. */
struct flow_ticket {
    uint32_t number; /* of this client's blocks at this helper, from 0, wraps */
    uint16_t own;    /* which own buffer, if FLOW_OWN */
    uint16_t flags;  /* FLOW_* */
    /* FLOW_OWN: where the answer is made, or 0. Otherwise the lowest bit is where the block lands. */
    uint64_t spares;
    /* An intimation: bytes of the operation that neither this block nor the credits that the client still
     * has will carry; 0: none. */
    uint64_t following;
};
enum {
    FLOW_OWN = 1,  /* lands in an own buffer */
    FLOW_LAST = 2, /* the last that uses the grant: all of `spares` are given back once it is done */
};

/* From the helper, alone or with a reply. */
struct flow_ack {
    uint32_t done;    /* blocks done in all, wraps */
    uint64_t granted; /* spares; 0: none */
};

/* ---- a client, towards one helper ---- */

struct flow_client {
    struct flow_limits limits;
    uint32_t sent, done; /* blocks, wrap */
    uint32_t next_own;   /* where the next own block lands: a ring */
    uint32_t credits;    /* own buffers that are free */
    uint64_t grant;      /* spares that may be used; 0: none */
    bool partly;         /* the operation under way has used some of the grant, and will use more */
    bool waiting;        /* found no credit */
    uint8_t *kinds;      /* ring of what is on its way: own or spare, by number */
    uint32_t ring;       /* its length, a power of two */
    uint64_t waits, intimations, grants; /* counted: found no credit; asked; were given some */
};

/* 0, -EINVAL or -ENOMEM. */
int flow_client_open(struct flow_client *c, const struct flow_limits *limits);
void flow_client_close(struct flow_client *c);

/* A place for the next block of an operation of which `left` bytes remain, this block's included. `fetch`:
 * they are those of its answer. True: send it, with this ticket, for at most *room of these bytes (and a
 * request of at most S bytes if it fetches). False: not before an acknowledgement. */
bool flow_take(struct flow_client *c, bool fetch, uint64_t left, struct flow_ticket *ticket, size_t *room);

/* 0, or -EPROTO: no helper of ours would say this. */
int flow_acknowledge(struct flow_client *c, const struct flow_ack *ack);

/* What is granted and will not be used, because nothing is left to send: to be said to the helper in a
 * note. 0: nothing (or an operation is still using it). */
uint64_t flow_give_back(struct flow_client *c);

/* Whether the block of this number is done; whether all are. */
static inline bool flow_is_done(const struct flow_client *c, uint32_t number) {
    return (int32_t)(c->done - number) > 0;
}
static inline bool flow_is_idle(const struct flow_client *c) {
    return c->sent == c->done;
}

/* ---- a helper ---- */

struct flow_helper;

/* Where a block lands: own buffer `index` of its client, or spare `index`. */
struct flow_place {
    bool spare;
    uint32_t index;
};

/* Bytes that a helper keeps of a client that has spoken. */
size_t flow_record(const struct flow_limits *limits);

int flow_helper_open(const struct flow_limits *limits, uint32_t clients, struct flow_helper **h);
void flow_helper_close(struct flow_helper *h);

/* A block has come. 0 and its place, or -EPROTO: no client of ours would send this (out of its window, a
 * buffer that is in use, a spare that it does not have); -ENOMEM: a client's first only, and nothing has
 * changed. */
int flow_arrive(struct flow_helper *h, uint32_t client, const struct flow_ticket *ticket,
                struct flow_place *place);

/* The next block to do: round robin over the clients of which the next in order is there, except those put
 * off since the last flow_retry. False: none. */
struct flow_turn {
    uint32_t client;
    struct flow_ticket ticket;
    struct flow_place place;
};
bool flow_turn(struct flow_helper *h, struct flow_turn *turn);

/* It cannot be done yet; the client's turn comes again after flow_retry. */
void flow_later(struct flow_helper *h, uint32_t client);
/* All that were put off may have their turn again. How many. */
uint32_t flow_retry(struct flow_helper *h);

/* It is done. `reply`: a reply is sent now, which will carry *ack. True: *ack is to be sent (with the
 * reply, or alone). Spares that are answered into stay taken until flow_release. */
bool flow_done(struct flow_helper *h, uint32_t client, bool reply, struct flow_ack *ack);

/* Replies from these spares have left. */
void flow_release(struct flow_helper *h, uint64_t spares);

/* A note has come: the client gives these back. 0 or -EPROTO. */
int flow_returned(struct flow_helper *h, uint32_t client, uint64_t spares);

/* Counted: intimations granted and refused, once for each acknowledgement that could have answered one;
 * messages that only acknowledge, and blocks done without one. */
struct flow_counts {
    uint64_t granted, refused, acks, coalesced;
};
struct flow_counts flow_helper_counts(const struct flow_helper *h);

/* For tests: clients and helpers that are opened from now on number their blocks from here. */
void flow_number_from(uint32_t number);

/* Walks everything and aborts if an invariant is broken. */
void flow_helper_check(const struct flow_helper *h);
void flow_client_check(const struct flow_client *c);

#endif
