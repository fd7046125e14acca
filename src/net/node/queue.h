/* queue.h: a ring for the messages of all senders to one receiver. It lies in the receiver's segment. */
#ifndef HEARTH_NET_NODE_QUEUE_H
#define HEARTH_NET_NODE_QUEUE_H

#include "base/compiler.h"
#include "net/node/node_record.h"

struct queue_shared {
    _Alignas(2 * CACHE_LINE) _Atomic uint64_t tail; /* bytes reserved so far; written by all writers */
    _Alignas(2 * CACHE_LINE) _Atomic uint64_t head; /* bytes read so far; written by the reader */
};

/* The private state of one writer. */
struct queue_writer {
    struct queue_shared *shared;
    char *ring;
    size_t bytes;  /* a power of two */
    uint64_t head; /* a copy that may be stale */
    uint64_t last; /* end of this writer's last record */
};

struct queue_reader {
    struct queue_shared *shared;
    char *ring;
    size_t bytes;
    uint64_t head, told; /* bytes read so far; and the value last published to the writers */
    bool broken;
};

void net_queue_write_open(struct queue_writer *w, struct queue_shared *shared, char *ring, size_t bytes);
void net_queue_read_open(struct queue_reader *r, struct queue_shared *shared, char *ring, size_t bytes);

/* Space for a record of this size, or NULL: no space until the reader has read. Until the record is committed, the
 * reader does not see the records behind it. */
struct node_record *net_queue_reserve(struct queue_writer *w, size_t size);

void net_queue_commit(struct node_record *record, int rank, uint32_t word);

/* Whether all records of this writer were read and handled. */
bool net_queue_is_drained(struct queue_writer *w);

/* Whether there may be something to read: one load. Pairs with net_queue_commit. */
static inline bool net_queue_has_message(const struct queue_reader *r) {
    return atomic_load_explicit(&net_record_at(r->ring, r->head & (r->bytes - 1))->word,
                                memory_order_relaxed) != 0;
}

/* Delivers at most RECORD_BATCH messages. Returns how many. */
int net_queue_read(struct queue_reader *r, int count, const struct delivery *to);

/* The largest record that is certain to fit into an empty queue of this size. */
static inline size_t net_queue_most(size_t bytes) {
    return bytes / 2;
}

#endif
