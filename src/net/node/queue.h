/* queue.h: a ring for the messages of all senders to one receiver. It lies in the receiver's segment. */
#ifndef HEARTH_NET_NODE_QUEUE_H
#define HEARTH_NET_NODE_QUEUE_H

#include "net/node/record.h"

struct queue_shared {
    _Alignas(2 * CACHE_LINE) _Atomic uint64_t tail; /* bytes reserved so far; all writers */
    _Alignas(2 * CACHE_LINE) _Atomic uint64_t head; /* bytes taken out so far; the reader */
};

/* One writer's, in its own memory. */
struct queue_writer {
    struct queue_shared *shared;
    char *ring;
    size_t bytes;  /* a power of two */
    uint64_t head; /* a copy that may be old */
    uint64_t last; /* end of the last record of this writer */
};

struct queue_reader {
    struct queue_shared *shared;
    char *ring;
    size_t bytes;
    uint64_t head, told; /* bytes taken out so far, and what the writers know of it */
    bool broken;
};

void queue_write_open(struct queue_writer *w, struct queue_shared *shared, char *ring, size_t bytes);
void queue_read_open(struct queue_reader *r, struct queue_shared *shared, char *ring, size_t bytes);

/* A place for a record of so many bytes, or NULL: no room before the reader has read. Until it is committed
 * the reader does not see what others put in behind it. */
struct record *queue_reserve(struct queue_writer *w, size_t size);

void queue_commit(struct record *record, int rank, uint32_t word);

/* Whether all that this writer put in was taken out, and handled. */
bool queue_is_past(struct queue_writer *w);

/* Whether there may be something to read: one load. Partner: queue_commit. */
static inline bool queue_has_news(const struct queue_reader *r) {
    return atomic_load_explicit(&record_at(r->ring, r->head & (r->bytes - 1))->word, memory_order_relaxed) !=
           0;
}

/* Delivers what has arrived, up to RECORD_BATCH messages. Returns how many. */
int queue_read(struct queue_reader *r, int count, const struct delivery *to);

/* The largest record that is sure to find room in an empty queue of so many bytes. */
static inline size_t queue_most(size_t bytes) {
    return bytes / 2;
}

#endif
