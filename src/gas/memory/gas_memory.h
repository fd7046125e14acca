/* gas_memory.h: access to segments, wherever they are: in pages (pages/), or entirely in memory (dram.h).
 *
 * Callable from any thread. The remote range must lie entirely in the segment of `rank` (gas_memory_check); local memory
 * may be anywhere. */
#ifndef HEARTH_GAS_MEMORY_H
#define HEARTH_GAS_MEMORY_H

#include "gas/memory/dram.h"
#include "gas/process/process.h"

/* Makes the table of segments, which are empty until gas_memory_attach. Collective. Returns 0 or -ENOMEM, the same on all ranks. */
int gas_memory_open(void);
/* Collective, once: creates the segments of all ranks, `bytes` for this one; sets gas_job.pages, and fills
 * gas_job.segments. Returns 0, or a negative code after an error line, the same on all ranks. */
int gas_memory_attach(uint64_t bytes);
bool gas_memory_is_attached(void);
/* Collective: no rank touches a segment any more. `keep`, the same on all ranks: named segments keep their content;
 * else they stay as they were at the last checkpoint. `ends`: other threads of this process, which is about to exit,
 * may still access them. */
int gas_memory_detach(bool keep, bool ends);
/* Whether segments have names and outlive the job. */
bool gas_memory_is_durable(void);

/* ---- complete on return: a load at the target then sees the put too ---- */

void gas_memory_get(void *to, int rank, const void *from, size_t bytes);
void gas_memory_put(int rank, void *to, const void *from, size_t bytes);
void gas_memory_set(int rank, void *to, int value, size_t bytes);

/* ---- operations in two steps ---- */

struct memory_op {
    union {
        struct pages_op pages;
        struct dram_op dram;
    } at;
};

/* True: it is already complete, and `op` is unused. Otherwise `op` must not move, and `to` of a get and `from` of a put
 * must stay valid, until gas_memory_try has returned true or gas_memory_finish has returned. */
bool gas_memory_begin_get(struct memory_op *op, void *to, int rank, const void *from, size_t bytes);
bool gas_memory_begin_put(struct memory_op *op, int rank, void *to, const void *from, size_t bytes);
bool gas_memory_begin_set(struct memory_op *op, int rank, void *to, int value, size_t bytes);
/* Updates an aligned word; `old` receives its previous value, u->bytes bytes, or is NULL. The source is `u`, which may be
 * changed on return. */
bool gas_memory_begin_update(struct memory_op *op, void *old, int rank, void *at,
                             const struct pages_update *u);

/* Of a put: waits until its source may be changed. True: it is also complete. */
bool gas_memory_free_source(struct memory_op *op);

/* Of a put: whether its source may be changed. Does not make the network progress. */
bool gas_memory_source_is_free(struct memory_op *op);

/* Does not make the network progress (gas_ask_progress). */
bool gas_memory_try(struct memory_op *op);
void gas_memory_finish(struct memory_op *op);
/* Of pages only. */
bool gas_memory_is_update(const struct memory_op *op);

/* ---- address checks ---- */

/* Ends the job after an error line unless the node exists and the range lies entirely in its segment. On the own node
 * any memory is allowed, as in GASNet: returns true if it lies outside of the segment, where it must be accessed by
 * memcpy. */
bool gas_memory_check(const char *call, gasnet_node_t node, const void *address, size_t bytes);

#endif
