/* dram.h: segments entirely in memory (HEARTH_NVM=off). Used through gas_memory.h. */
#ifndef HEARTH_GAS_DRAM_H
#define HEARTH_GAS_DRAM_H

#include "gas/memory/batch.h"
#include "net/net.h"

/* A long operation on the segment of another node, executed by its helper. */
struct dram_long {
    struct net_op move; /* carries the data of a put, or fetches that of a get */
    struct net_op over; /* after a put: answered when all of it has been stored */
    bool is_put;        /* `over` is under way as well */
    uint8_t value;
    uint32_t rank;
    char *local;
    uint64_t remote;
    uint64_t bytes, sent;
};

struct dram_op {
    bool is_short;
    union {
        struct batch_op shorter;
        struct dram_long longer;
    } as;
};

void gas_dram_get(void *to, int rank, const void *from, size_t bytes);
void gas_dram_put(int rank, void *to, const void *from, size_t bytes);
void gas_dram_set(int rank, void *to, int value, size_t bytes);

bool gas_dram_begin_get(struct dram_op *op, void *to, int rank, const void *from, size_t bytes);
bool gas_dram_begin_put(struct dram_op *op, int rank, void *to, const void *from, size_t bytes);
bool gas_dram_begin_set(struct dram_op *op, int rank, void *to, int value, size_t bytes);
bool gas_dram_begin_update(struct dram_op *op, void *old, int rank, void *at, const struct pages_update *u);
void gas_dram_free_source(struct dram_op *op);
bool gas_dram_source_is_free(struct dram_op *op);
bool gas_dram_try(struct dram_op *op);
void gas_dram_finish(struct dram_op *op);

/* Collective: allocates memory for all segments, `bytes` for that of this rank; *base is NULL if 0. Returns 0, or a
 * negative code after an error line, the same on all ranks. */
int gas_dram_open(size_t bytes, char **base);
void gas_dram_close(void);

/* The helper's handlers. */
net_serve gas_dram_serve_get, gas_dram_serve_put, gas_dram_serve_set;

#endif
