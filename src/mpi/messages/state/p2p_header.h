/* p2p_header.h: the header that precedes every message, in shared memory and through the host MPI. */
#ifndef HEARTH_MPI_P2P_HEADER_H
#define HEARTH_MPI_P2P_HEADER_H

#include <stdint.h>

/* Messages that are matched are numbered per sender and receiver, and delivered in that order. */
enum header_kind {
    HEADER_EAGER,
    HEADER_SYNC,
    HEADER_RTS,
    HEADER_NUMBERED = HEADER_RTS,
    HEADER_ACK,
    HEADER_CTS,
    HEADER_DATA,
    HEADER_FIN,
    HEADER_HELP,
    HEADER_HELPED,
    HEADER_BATCH /* before several messages that left together: see p2p_bounce.c */
};

struct header {
    uint64_t bytes : 56, kind : 8;
    uint64_t id; /* SYNC, RTS: the sender's request; otherwise the request at the receiver of this header */
    union {
        struct {
            uint32_t sequence, context;
            int32_t source, tag; /* source: rank in the communicator */
        };
        struct {
            uint64_t answer; /* CTS, HELP: the receiver's request; HELPED: the sender's */
            /* DATA: offset of the first byte; CTS through the host MPI: the tag; HELP: the offer; HELPED: address of the
             * message at the sender. */
            uint64_t place;
        };
    };
};

/* The payload of a HELP: the place of the bytes in the message, and at the receiver. */
struct header_help {
    uint64_t from, address;
};

/* The bytes that follow a header. */
static inline uint64_t header_payload(const struct header *h) {
    switch (h->kind) {
    case HEADER_RTS: /* the address of the data */
        return sizeof(uint64_t);
    case HEADER_HELP:
        return sizeof(struct header_help);
    case HEADER_EAGER:
    case HEADER_SYNC:
    case HEADER_DATA:
    case HEADER_BATCH:
        return h->bytes;
    default:
        return 0;
    }
}

#endif
