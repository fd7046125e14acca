/* am_remote.h: format of active messages between nodes. */
#ifndef HEARTH_GAS_AM_REMOTE_H
#define HEARTH_GAS_AM_REMOTE_H

#include "gas/am/am.h"
#include "gas/process/remote_op.h"

/* GAS_AM: the request, and its payload unless that was sent before. */
struct remote_request_header {
    struct am_message message;
    uint32_t rank, slot; /* target rank; the sender's slot */
    uint32_t parted;     /* the payload was sent before, in parts */
};

/* GAS_AM_PART. All parts of a payload arrive consecutively, then the request; nothing of the same sender in between. */
struct remote_part_header {
    uint32_t rank, offset;
};

/* GAS_AM_REPLY: the reply, or a message of the kind AM_NO_REPLY; its payload in one or more blocks. */
struct remote_reply_header {
    struct am_message message;
    uint32_t rank, slot; /* of the requester */
    uint32_t offset;
};

/* GAS_AM_PULL: answered with the parked request in that slot and its payload, from byte `offset` on. */
struct remote_pull_header {
    uint32_t rank, slot; /* of the rank that sent the parked request */
    uint64_t offset;
};

static inline uint32_t gas_remote_payload(const struct am_message *m) {
    /* The payload of a Long message is already in the segment. */
    return m->kind == GASNETC_MEDIUM ? m->bytes : 0;
}

/* Whether a message from this rank is valid: its fields are used as indexes and lengths, here and where its handler runs. */
static inline bool gas_remote_is_valid(const struct am_message *m, uint32_t source) {
    return m->source == source && m->kind <= GASNETC_LONG && m->count <= AM_ARGS &&
           gas_remote_payload(m) <= AM_MEDIUM;
}

/* The helper's side; called in the leader of a node, before the network is open. */
int gas_arrive_open(void);
void gas_arrive_close(void);

/* The helper's handlers: am_arrive.c. */
net_serve gas_am_serve_part, gas_am_serve, gas_am_serve_pull, gas_am_serve_reply;

#endif
