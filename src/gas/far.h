/* far.h: what an active message looks like between nodes. */
#ifndef HEARTH_GAS_FAR_H
#define HEARTH_GAS_FAR_H

#include "gas/am.h"

/* GAS_AM: the request, and its payload unless that came before. */
struct far_request_header {
    struct message message;
    uint32_t rank, slot; /* for whom; the sender's */
    uint32_t parted;     /* the payload came before, in parts */
};

/* GAS_AM_PART. All parts of a payload come one after the other, then the request; nothing of the same sender
 * between them. */
struct far_part_header {
    uint32_t rank, offset;
};

/* GAS_AM_REPLY: the reply, or a message of the kind AM_NO_REPLY; its payload in one or more blocks. */
struct far_reply_header {
    struct message message;
    uint32_t rank, slot; /* whose */
    uint32_t offset;
};

/* GAS_AM_PULL: answered by the request in that slot, which was parked, and its payload; both from byte `offset` on. */
struct far_pull_header {
    uint32_t rank, slot; /* whose */
    uint64_t offset;
};

static inline uint32_t far_payload(const struct message *m) {
    return m->kind == GASNETC_MEDIUM ? m->bytes : 0; /* that of a Long message lies in the segment already */
}

/* The helper's side; in the leader of a node, before the network is open. */
int arrive_open(void);
void arrive_close(void);

#endif
