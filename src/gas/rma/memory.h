/* memory.h: access to segments, wherever they are: in pages (pages/), or entirely in memory (dram.h).
 *
 * Callable from any thread. The remote range must lie entirely in the segment of `rank` (memory_check); local memory
 * may be anywhere. */
#ifndef HEARTH_GAS_MEMORY_H
#define HEARTH_GAS_MEMORY_H

#include "gas/rma/dram.h"
#include "gas/inside.h"

/* Collective, in gasnet_attach: creates the segments of all ranks, `bytes` for this one; sets gas.pages and
 * gas.segments. Returns 0, or a negative code after an error line, the same on all ranks. */
int memory_attach(uint64_t bytes);
/* Collective: no rank touches a segment any more. `keep`, the same on all ranks: named segments keep their content;
 * else they stay as they were at the last checkpoint. `ends`: other threads of this process, which is about to exit,
 * may still access them. */
int memory_detach(bool keep, bool ends);
/* Whether segments have names and outlive the job. */
bool memory_is_durable(void);

/* ---- complete on return: a load at the target then sees the put too ---- */

void memory_get(void *to, int rank, const void *from, size_t bytes);
void memory_put(int rank, void *to, const void *from, size_t bytes);
void memory_set(int rank, void *to, int value, size_t bytes);

/* ---- operations in two steps ---- */

struct memory_op {
    union {
        struct pages_op pages;
        struct dram_op dram;
    } at;
};

/* True: it is already complete, and `op` is unused. Otherwise `op` must not move, and `to` of a get and `from` of a put
 * must stay valid, until memory_try has returned true or memory_finish has returned. */
bool memory_begin_get(struct memory_op *op, void *to, int rank, const void *from, size_t bytes);
bool memory_begin_put(struct memory_op *op, int rank, void *to, const void *from, size_t bytes);
bool memory_begin_set(struct memory_op *op, int rank, void *to, int value, size_t bytes);

/* Of a put: waits until its source may be changed. True: it is also complete. */
bool memory_free_source(struct memory_op *op);

/* Does not make the network progress (ask_progress). */
bool memory_try(struct memory_op *op);
void memory_finish(struct memory_op *op);

/* ---- address checks ---- */

/* Ends the job after an error line unless the node exists and the range lies entirely in its segment. On the own node
 * any memory is allowed, as in GASNet: returns true if it lies outside of the segment, where it must be accessed by
 * memcpy. */
bool memory_check(const char *call, gasnet_node_t node, const void *address, size_t bytes);

/* Whether part of that local memory lies in a segment whose pages may be unmapped: system calls on it fail. */
bool memory_is_paged(const void *address, size_t bytes);

#endif
