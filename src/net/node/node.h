/* node.h: what a process has of the others of its node. */
#ifndef HEARTH_NET_NODE_H
#define HEARTH_NET_NODE_H

#include "net/node/plan.h"

/* One of the others, or oneself. */
struct peer {
    struct box_writer box; /* without a ring at first */
    struct queue_writer queue;
    struct control *control;
    struct segment segment; /* not open for oneself */
    struct plan plan;
    uint32_t queued; /* messages sent through the queue, as far as it matters */
    bool waits;      /* until the queue is read, to change over to a box */
    bool boxless;    /* no box is left, or none is wanted */
};

/* A message that was reserved and not yet committed. */
struct reserved {
    struct peer *peer; /* NULL: none */
    struct record *record;
    size_t size;
    uint32_t word;
};

enum { BELLS_IN_WORD = sizeof(uint64_t) / sizeof(uint16_t) };

struct net_node {
    /* Sending. */
    int rank, count;
    size_t header_bytes, header_room, eager;
    struct peer *peers;
    struct reserved reserved;

    /* Polling. */
    const _Atomic uint16_t *bells; /* one per box: messages that were put in */
    uint16_t *seen;                /* one per box: messages that were read; as aligned as the bells */
    uint32_t bell_words;
    struct queue_reader queue;
    struct box_reader *boxes;
    struct box_reader *hot; /* the box that was read last; NULL: none yet */
    unsigned empty;         /* polls in a row that found nothing */

    struct segment segment;
    struct control *control;
    struct segment_token probe; /* what others pull to see whether they can */
    bool can_pull;
};

#endif
