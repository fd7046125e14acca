/* node.h: the state of a process towards the other processes of its node. */
#ifndef HEARTH_NET_NODE_H
#define HEARTH_NET_NODE_H

#include "net/node/plan.h"

/* Another process, or this one. */
struct node_peer {
    struct box_writer box; /* without a ring at first */
    struct queue_writer queue;
    struct control *control;
    struct segment segment; /* not open for this process */
    struct plan plan;
    uint32_t queued; /* messages sent through the queue, up to BOX_AFTER */
    bool waits;      /* for the receiver to drain the queue, to switch to a box */
    bool boxless;    /* no box is left, or none is wanted */
};

/* A message that was reserved and not yet committed. */
struct reserved {
    struct node_peer *peer; /* NULL: none */
    struct node_record *record;
    size_t size;
    uint32_t word;
};

enum { DOORBELLS_IN_WORD = sizeof(uint64_t) / sizeof(uint16_t) };

struct net_node {
    /* Sending. */
    int rank, count;
    size_t header_bytes, header_room, eager;
    struct node_peer *peers;
    struct reserved reserved;

    /* Polling. */
    const _Atomic uint16_t *doorbells; /* one per box: messages written */
    uint16_t *seen;                    /* one per box: messages read; aligned like the doorbells */
    uint32_t doorbell_words;
    struct queue_reader queue;
    struct box_reader *boxes;
    struct box_reader *hot; /* the box that was read last; NULL: none yet */
    unsigned empty;         /* consecutive polls that found nothing */

    struct segment segment;
    struct control *control;
    struct segment_token probe; /* others pull this to test whether they can */
    bool can_pull;
    uint64_t pull_from; /* bytes */
    uint64_t offers;    /* so far */
};

#endif
