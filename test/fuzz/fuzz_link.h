/* fuzz_link.h: a link without a network (net/link/link.h), for feeding bytes to the network's readers. A sent message
 * is read to its end, and is complete at once or at fuzz_link_complete. */
#ifndef HEARTH_TEST_FUZZ_LINK_H
#define HEARTH_TEST_FUZZ_LINK_H

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "net/rpc/rpc_engine.h"

enum { FUZZ_LINK_SENDS = 256, FUZZ_BYTES = 64, FUZZ_POOL_BYTES = 128 };

static struct {
    struct link_events events;
    bool keeps; /* the next message, until fuzz_link_complete */
    struct link_send *sends[FUZZ_LINK_SENDS];
    unsigned count;
    unsigned char sum; /* of all bytes that were sent */
} fuzz_link;

/* Buffers of FUZZ_BYTES and FUZZ_POOL_BYTES; how many, the input says. */
static inline struct flow_limits fuzz_link_limits(uint8_t shape) {
    return (struct flow_limits){.buffers = 1 + shape % 5,
                                .bytes = FUZZ_BYTES,
                                .pool_buffers = shape / 8 % 8,
                                .pool_buffer_bytes = FUZZ_POOL_BYTES,
                                .size_hint = shape & 0x80};
}

int net_link_port_open(struct link *link, int port, const struct link_events *events, struct link_port **p) {
    (void)link, (void)port;
    fuzz_link.events = *events;
    *p = (struct link_port *)&fuzz_link;
    return 0;
}

int net_link_connect(struct link_port *p, const void *address, size_t bytes, int rank, int port,
                     struct link_peer **peer) {
    (void)p, (void)address, (void)bytes, (void)rank, (void)port;
    *peer = (struct link_peer *)&fuzz_link;
    return 0;
}

int net_link_send(struct link_port *p, struct link_peer *peer, const void *header, size_t header_bytes,
                  const void *payload, size_t bytes, struct link_send *s) {
    (void)p, (void)peer;
    fuzz_must(header_bytes <= LINK_HEADER);
    for (size_t i = 0; i < header_bytes; i++)
        fuzz_link.sum ^= ((const unsigned char *)header)[i];
    for (size_t i = 0; i < bytes; i++)
        fuzz_link.sum ^= ((const unsigned char *)payload)[i];
    if (!fuzz_link.keeps || fuzz_link.count == FUZZ_LINK_SENDS)
        return 0;
    fuzz_link.sends[fuzz_link.count++] = s;
    return 1;
}

int net_link_flush(struct link_port *p, struct link_peer *peer, struct link_send *s) {
    return net_link_send(p, peer, NULL, 0, NULL, 0, s);
}

int net_link_progress(struct link_port *p) {
    (void)p;
    return 0;
}

int net_link_arm(struct link_port *p) {
    (void)p;
    return -1;
}

int net_link_descriptor(const struct link_port *p) {
    (void)p;
    return -1;
}

uint64_t net_link_nap(const struct link_port *p) {
    (void)p;
    return 0;
}

/* Completes the pending messages. */
static inline void fuzz_link_complete(void) {
    unsigned count = fuzz_link.count;
    struct link_send *sends[FUZZ_LINK_SENDS];
    memcpy(sends, fuzz_link.sends, count * sizeof *sends);
    fuzz_link.count = 0;
    for (unsigned i = 0; i < count; i++)
        sends[i]->sent(sends[i], 0);
}

/* A message in its own allocation, so that a sanitizer detects accesses beyond its end. */
static inline void fuzz_link_arrive(const void *header, size_t header_bytes, const void *payload,
                                    size_t bytes) {
    char *head = malloc(header_bytes + 1), *body = malloc(bytes + 1);
    fuzz_must(head && body);
    memcpy(head, header, header_bytes);
    memcpy(body, payload, bytes);
    head = realloc(head, header_bytes ? header_bytes : 1);
    body = realloc(body, bytes ? bytes : 1);
    fuzz_must(head && body);
    fuzz_link.events.arrived(fuzz_link.events.arg, (struct link_peer *)&fuzz_link, head, header_bytes, body,
                             bytes);
    free(head);
    free(body);
}

#endif
