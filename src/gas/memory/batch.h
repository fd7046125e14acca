/* batch.h: short operations on the segments of another node, which share messages. Used by dram.c. */
#ifndef HEARTH_GAS_BATCH_H
#define HEARTH_GAS_BATCH_H

#include "gas/process/process.h"

enum batch_kind { BATCH_GET, BATCH_PUT, BATCH_SET, BATCH_UPDATE };

/* One operation; in memory of its caller, where it stays until it is done. */
struct batch_op {
    struct batch_op *next;
    char *local; /* of an update: for the previous value, or NULL */
    uint64_t remote;
    uint32_t bytes, rank;
    uint8_t kind, value;
    struct net_op *carrier; /* the message it is sent with, or NULL: not sent yet; changed inside ask.h */
    uint64_t answer_at;     /* offset in its answer */
    struct pages_update update;
    /* Set last, when the data has arrived: no other thread touches it any more. Pairs with gas_batch_is_done. */
    _Atomic bool done;
};

/* Maximum bytes of one operation; the longest memset. */
size_t gas_batch_most(void);
enum { BATCH_LONGEST_SET = 65536 };

void gas_batch_start(struct batch_op *op, enum batch_kind kind, void *local, int rank, uint64_t remote,
                     uint32_t bytes, int value);

/* Updates an aligned word; `old` receives its previous value, or is NULL. */
void gas_batch_start_update(struct batch_op *op, void *old, int rank, uint64_t remote,
                            const struct pages_update *u);

static inline bool gas_batch_is_done(const struct batch_op *op) {
    return atomic_load_explicit(&op->done, memory_order_acquire);
}

void gas_batch_finish(struct batch_op *op);

/* Nothing may be under way at close. gas_batch_open: 0, or -ENOMEM after an error line. */
int gas_batch_open(void);
void gas_batch_close(void);

/* The helper's handlers. */
net_serve gas_dram_serve_batch;

#endif
