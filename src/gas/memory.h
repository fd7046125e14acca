/* memory.h: reading and writing segments, wherever they lie: in pages (pages/), or as a whole in memory (dram.h).
 *
 * Any thread. All of the remote range lies in the segment of `rank` (memory_check), local memory anywhere. */
#ifndef HEARTH_GAS_MEMORY_H
#define HEARTH_GAS_MEMORY_H

#include "gas/dram.h"
#include "gas/inside.h"

/* Collective, in gasnet_attach: segments of all ranks, `bytes` for this one; sets gas.pages and gas.segments. 0, or a
 * negative code after a line, everywhere. */
int memory_attach(uint64_t bytes);
/* Collective: nobody touches a segment any more. `keep`, the same everywhere: named segments keep what they hold; else they
 * stay as they were at the last checkpoint. `ends`: but for other threads of this process, which is about to end. */
int memory_detach(bool keep, bool ends);
/* Whether segments have names and stay when the job ends. */
bool memory_is_durable(void);

/* ---- complete on return: also a load at the target then sees what was put ---- */

void memory_get(void *to, int rank, const void *from, size_t bytes);
void memory_put(int rank, void *to, const void *from, size_t bytes);
void memory_set(int rank, void *to, int value, size_t bytes);

/* ---- in two steps ---- */

struct memory_op {
    union {
        struct pages_op pages;
        struct dram_op dram;
    } at;
};

/* True: it is complete already, and the operation unknown. Otherwise it must stay where it is, and so must `to` of a get
 * and `from` of a put, until memory_try has said true or memory_finish has returned. */
bool memory_begin_get(struct memory_op *op, void *to, int rank, const void *from, size_t bytes);
bool memory_begin_put(struct memory_op *op, int rank, void *to, const void *from, size_t bytes);
bool memory_begin_set(struct memory_op *op, int rank, void *to, int value, size_t bytes);

/* Of a put: until its source may be changed. True: it is complete as well. */
bool memory_free_source(struct memory_op *op);

/* Does not make the network go on (ask_progress). */
bool memory_try(struct memory_op *op);
void memory_finish(struct memory_op *op);

/* ---- where ---- */

/* Ends the job after a line unless there is such a node and all of the range lies in its segment. Of the own node any
 * memory will do, as in GASNet: true if it lies outside of the segment, where only memcpy reaches it. */
bool memory_check(const char *call, gasnet_node_t node, const void *address, size_t bytes);

/* Whether some of that local memory lies in a segment whose pages may be unmapped: system calls cannot read or write
 * it, and fail. */
bool memory_is_paged(const void *address, size_t bytes);

#endif
