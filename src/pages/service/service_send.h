/* service_send.h: outgoing and incoming messages. */
#ifndef HEARTH_PAGES_SERVICE_SEND_H
#define HEARTH_PAGES_SERVICE_SEND_H

#include "net/net.h"
#include "pages/protocol/protocol.h"

struct service;

enum {
    SERVICE_PIECE = 262144,  /* maximum bytes of a page in one message that is not received in place */
    SERVICE_MESSAGE = 65536, /* minimum capacity of a network message, bytes: several messages share one */
    /* Pages of at least so many bytes, which would be more than one piece, are received in place if net_channel_in_place. */
    SERVICE_IN_PLACE = 524288,
};

/* Messages outside of the coherence protocol; they do not change its state. */
enum service_kind {
    SERVICE_RESERVE = PAGES_KINDS, /* to the home: reserve space to write the page */
    SERVICE_RESERVED,              /* tag: an errno value, or 0 */
    SERVICE_PING,                  /* liveness probe */
    SERVICE_PONG,
    SERVICE_KINDS
};

/* Header of a message on the wire. */
struct wire {
    struct pages_message message;
    /* Of this piece of the page; of a remote operation: its offset in the page and its size. */
    uint32_t offset, bytes;
    uint32_t whole; /* bytes of all pieces */
    uint32_t zero;  /* the page is all zero, or will be overwritten: its bytes are not sent */
};

/* Location of a message's payload, which stays in place until the message has left. */
enum load_kind { LOAD_NONE, LOAD_FRAME, LOAD_WORK, LOAD_BOUNCE, LOAD_SLOT };
struct load {
    enum load_kind kind;
    uint32_t index;
    bool zero;
};

struct sending {
    struct link_send link;
    struct service *service;
    struct wire wire;
    struct load load;
    const char *memory;
    uint32_t sent, next; /* bytes sent; next of the free list: index + 1 */
};

/* The messages under way. */
struct service_sends {
    struct sending *all; /* [most] */
    uint32_t free;       /* list: index + 1 */
    uint32_t made, most; /* the first `made` were in use at some time */
    uint32_t piece;      /* maximum bytes of a page in one message */
};

/* Sends to another node or to ourselves. */
void pages_service_send(struct service *s, const struct pages_message *m, struct load load);
void pages_service_arrived(void *service, const void *header, size_t header_bytes, const void *payload,
                           size_t bytes);
/* A piece of a page is announced: the memory that it is received into. NULL: the message is invalid; the job ends. */
void *pages_service_place(void *service, const void *header, size_t header_bytes, size_t bytes);

#endif
