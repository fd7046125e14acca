/* batch.h: short operations on the segments of another node, which travel together. Used by dram.c. */
#ifndef HEARTH_GAS_BATCH_H
#define HEARTH_GAS_BATCH_H

#include "gas/inside.h"

enum batch_kind { BATCH_GET, BATCH_PUT, BATCH_SET };

/* One of them; lies with who started it, and stays there until it is done. */
struct batch_op {
    struct batch_op *next;
    char *local;
    uint64_t remote;
    uint32_t bytes, rank;
    uint8_t kind, value;
    struct net_op *carrier; /* what it travels with, or NULL: it has not left; changed inside ask.h */
    uint64_t answer_at;     /* where in its answer */
    _Atomic bool
        done; /* set last, when the data is in: nobody else touches it any more. Partner: batch_is_done */
};

/* Most bytes of one; the longest memset. */
size_t batch_most(void);
enum { BATCH_LONGEST_SET = 65536 };

void batch_start(struct batch_op *op, enum batch_kind kind, void *local, int rank, uint64_t remote,
                 uint32_t bytes, int value);

static inline bool batch_is_done(const struct batch_op *op) {
    return atomic_load_explicit(&op->done, memory_order_acquire);
}

void batch_finish(struct batch_op *op);

/* Nothing is under way when it is closed. 0 or -ENOMEM after a line. */
int batch_open(void);
void batch_close(void);

#endif
