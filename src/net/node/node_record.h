/* node_record.h: the format of a message in a ring, in boxes and in the queue.
 *
 *      +------+------+----------------------+---------------------- - -
 *      | word | peer | header, padded to 8  | payload               up to the end of a line
 *      +------+------+----------------------+---------------------- - -
 *      0      4      8                      8 + header_room
 *
 * Records begin at cache lines and do not wrap around the ring's end: if there is no space up to the end, a word
 * RECORD_SKIP sends the reader to the start. The word publishes a record: it is stored last, with release, and read
 * first, with acquire; 0 means that nothing is published here. So a small message costs the reader one cache line,
 * and the writer one release store. */
#ifndef HEARTH_NET_NODE_RECORD_H
#define HEARTH_NET_NODE_RECORD_H

#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "net/node/messages.h"

#define RECORD_SKIP UINT32_MAX

enum {
    RECORD_MOST_HEADER = 64,
    RECORD_BATCH = 64, /* messages from one ring per poll, so that a stream does not hold up the caller */
};

struct node_record {
    _Atomic uint32_t word; /* 0, RECORD_SKIP, or the bytes of the payload plus one */
    uint32_t peer;         /* the sender; only in the queue */
    char bytes[];
};

/* The destination of arriving messages. */
struct delivery {
    net_handler *handler;
    void *arg;
    size_t header_room; /* bytes of the padded header */
};

static inline struct node_record *net_record_at(char *ring, size_t offset) {
    return (struct node_record *)(ring + offset);
}

/* Bytes in the ring. */
static inline size_t net_record_size(size_t header_room, size_t bytes) {
    return (sizeof(struct node_record) + header_room + bytes + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

static inline void net_record_deliver(const struct node_record *r, int peer, size_t bytes,
                                      const struct delivery *to) {
    to->handler(to->arg, peer, r->bytes, r->bytes + to->header_room, bytes);
}

/* Most messages are small, and a function call costs as much as their copy. */
static inline void net_record_copy_payload(void *to, const void *from, size_t bytes) {
    char *t = to;
    const char *f = from;
    if (LIKELY(bytes > 16)) {
        memcpy(t, f, bytes);
    } else if (bytes >= 8) {
        uint64_t first, last;
        memcpy(&first, f, 8);
        memcpy(&last, f + bytes - 8, 8);
        memcpy(t, &first, 8);
        memcpy(t + bytes - 8, &last, 8);
    } else if (bytes >= 4) {
        uint32_t first, last;
        memcpy(&first, f, 4);
        memcpy(&last, f + bytes - 4, 4);
        memcpy(t, &first, 4);
        memcpy(t + bytes - 4, &last, 4);
    } else {
        for (size_t i = 0; i < bytes; i++)
            t[i] = f[i];
    }
}

/* Headers are a few words. */
static inline void net_record_copy_header(void *to, const void *from, size_t bytes) {
    char *t = to;
    const char *f = from;
    for (; bytes >= 8; bytes -= 8, t += 8, f += 8)
        memcpy(t, f, 8);
    net_record_copy_payload(t, f, bytes);
}

#endif
