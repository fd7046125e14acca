/* box.h: a ring for the messages of one sender to one receiver. It lies in the receiver's segment. */
#ifndef HEARTH_NET_NODE_BOX_H
#define HEARTH_NET_NODE_BOX_H

#include "base/compiler.h"
#include "net/node/node_record.h"

/* The shared part besides the ring. Two cache lines, since some machines fetch them in pairs. */
struct box_shared {
    _Alignas(2 * CACHE_LINE) _Atomic uint64_t head; /* bytes read so far; written by the reader */
    _Atomic uint32_t owner; /* rank of the writer, plus one; set once, before the first message */
};

/* The writer's private state. */
struct box_writer {
    char *ring;           /* NULL: no box */
    size_t bytes, offset; /* of the ring; and of the next record */
    size_t look_at;       /* the offset from which the writer looks whether it may return to the start */
    uint64_t tail, head;  /* bytes written so far; bytes read, a copy that may be stale */
    struct box_shared *shared;
    _Atomic uint16_t *doorbell;
    uint16_t signalled; /* messages written so far */
    bool returns;       /* the next record goes to the start */
};

/* The reader's private state. */
struct box_reader {
    char *ring;
    size_t bytes, offset;
    uint64_t head, told; /* bytes read so far; and the value last published to the writer */
    struct box_shared *shared;
    int peer;    /* the writer; -1: not known yet */
    bool broken; /* the content is not a valid record */
};

void net_box_write_open(struct box_writer *w, struct box_shared *shared, char *ring, size_t bytes,
                        _Atomic uint16_t *doorbell);
void net_box_read_open(struct box_reader *r, struct box_shared *shared, char *ring, size_t bytes);

/* Space for a record of this size, or NULL: no space until the reader has read. */
struct node_record *net_box_reserve(struct box_writer *w, size_t size);

/* Publishes the record that was reserved last. */
void net_box_commit(struct box_writer *w, struct node_record *record, size_t size, uint32_t word);

/* Whether there may be something to read: one load. Pairs with net_box_commit. */
static inline bool net_box_has_message(const struct box_reader *r) {
    return atomic_load_explicit(&net_record_at(r->ring, r->offset)->word, memory_order_relaxed) != 0;
}

/* Delivers at most `most` messages. Returns how many there were. */
int net_box_read(struct box_reader *r, int most, int count, const struct delivery *to);

/* The largest record that is certain to fit into an empty box of this size, whatever its offset: the rest up to the
 * end may be just too small, and one line behind the record stays free. */
static inline size_t net_box_most(size_t bytes) {
    return (bytes / 2 & ~(size_t)(CACHE_LINE - 1)) - CACHE_LINE;
}

#endif
