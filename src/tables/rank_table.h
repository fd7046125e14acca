/* rank_table.h: records of ranks, made when a rank is first used.
 *
 * A process uses few of the ranks of a large job, so a record for each of them would waste most of its memory. A record begins
 * with its struct rank_record, and stays where it is until the table is closed.
 *
 * Any thread may look up at any time. Making a record, and rank_table_close, need a lock of the caller's. */
#ifndef HEARTH_BASE_RANK_TABLE_H
#define HEARTH_BASE_RANK_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Up to this many ranks have a slot each, 8 bytes per rank. More ranks share a hash index over the records. */
enum { RANK_TABLE_DENSE = 65536 };

struct rank_record {
    int32_t rank;
    uint32_t number; /* in the order of making: 0, 1, 2 ... */
};

typedef _Atomic(struct rank_record *) rank_slot;

struct rank_table {
    rank_slot *slots; /* [dense]; free ones hold `none` */
    uint32_t dense;   /* number of ranks; 0 if there are more than RANK_TABLE_DENSE */
    uint32_t count;   /* of records */
    struct rank_store *store;
};

/* none: what a lookup yields for ranks without a record; its rank is negative. It outlives the table. Returns 0 or -ENOMEM. */
int rank_table_open(struct rank_table *t, uint32_t ranks, size_t record_bytes, struct rank_record *none);
void rank_table_close(struct rank_table *t);

/* The same in other words: bytes of a table for so many ranks, `used` of which have records. */
size_t rank_table_bytes(uint32_t ranks, size_t record_bytes, uint32_t used);

/* The record of a rank, or `none`; `none` also for numbers that are no rank of the table. */
struct rank_record *rank_table_find_hashed(const struct rank_table *t, int rank);
static inline struct rank_record *rank_table_find(const struct rank_table *t, int rank) {
    if (__builtin_expect((uint32_t)rank < t->dense, 1))
        return atomic_load_explicit(&t->slots[rank], memory_order_acquire);
    return rank_table_find_hashed(t, rank);
}

/* The same without a call, for callers that need no stack frame otherwise. NULL if the rank has no slot of its own. Only where no
 * other thread makes records. */
static inline struct rank_record *rank_table_find_dense(const struct rank_table *t, int rank) {
    if (__builtin_expect((uint32_t)rank >= t->dense, 0))
        return NULL;
    struct rank_record *r = atomic_load_explicit(&t->slots[rank], memory_order_relaxed);
    if (!r)
        __builtin_unreachable(); /* a free slot holds `none` */
    return r;
}

/* Room for the next record, zeroed but for its head; NULL: no memory. rank_table_add makes it visible, and cannot fail. Without
 * rank_table_add, the next call returns the same room. Requires that there is none for this rank. */
struct rank_record *rank_table_prepare(struct rank_table *t, int rank);
void rank_table_add(struct rank_table *t, struct rank_record *r);

/* The record with this number, below t->count. To visit all of them. */
struct rank_record *rank_table_at(const struct rank_table *t, uint32_t number);

#endif
