/* wire.h: message formats between clients and helpers. All processes of a job run the same build on the same kind of
 * machine, so numbers are sent in native form. */
#ifndef HEARTH_NET_WIRE_H
#define HEARTH_NET_WIRE_H

#include "net/rpc/call.h"
#include "net/rpc/flow.h"
#include "net/link/link.h"

enum wire_kind {
    WIRE_BLOCK = 0x48420001, /* to a helper: one block of an operation */
    WIRE_NOTE,               /* to a helper: pool buffers are returned */
    WIRE_ACK,                /* to a client: blocks are done */
    WIRE_ANSWER,             /* to a client: a piece of an answer, possibly with an acknowledgement */
    WIRE_REPLY,              /* to a client: an answer by net_reply */
};

enum { WIRE_REPLY_BYTES = 32 }; /* largest answer by net_reply */

/* In place of a handler's number: a block that only carries a size hint. */
enum { WIRE_NOTHING = NET_HANDLERS * NET_SERVICES };

/* Precedes the caller's header. */
struct wire_block {
    uint32_t kind;
    uint32_t client; /* rank */
    uint32_t op;     /* the client's id of the operation, if it has an answer */
    uint16_t header_bytes;
    uint8_t handler;
    uint8_t streams; /* the answer comes in pieces of at most one buffer, one after the other */
    struct flow_ticket ticket;
    uint64_t answer_bytes, answer_offset; /* wanted; and their offset in the operation's answer */
};
_Static_assert(sizeof(struct wire_block) + NET_HEADER <= LINK_HEADER, "both headers fit");

struct wire_note {
    uint32_t kind, client;
    uint64_t pool_buffers;
};

/* To a client. */
struct wire_reply {
    uint32_t kind;
    uint32_t from; /* node * helpers + helper */
    uint32_t op;
    uint32_t acknowledges; /* whether `ack` is valid */
    uint64_t offset;       /* of the piece in the operation's answer */
    struct flow_ack ack;
};

#endif
