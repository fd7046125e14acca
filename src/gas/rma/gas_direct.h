/* gas_direct.h: puts and gets in memory that this process has mapped: segments of the own node with HEARTH_NVM=off.
 *
 * This is the fast path of every put and get. It takes no lock and writes nothing that another thread writes.
 * Everything else, including errors of the caller, is left to gas_transfer.c. */
#ifndef HEARTH_GAS_DIRECT_H
#define HEARTH_GAS_DIRECT_H

#include <string.h>

#include "base/compiler.h"
#include "gas/am/am.h"
#include "gas/rma/gas_handle.h"

#define DIRECT_FAST static inline __attribute__((always_inline))
#define DIRECT_SLOW __attribute__((noinline, cold))

/* Returns the calling thread's record if it may access these bytes by loads and stores; otherwise NULL. */
DIRECT_FAST struct gas_thread *gas_direct_thread(gasnet_node_t node, const void *remote, size_t bytes) {
    gasnet_node_t at = node - gas_job.direct_first;
    if (UNLIKELY(!gas_is_attached() || at >= gas_job.direct_count || !gas_am_is_free()))
        return NULL;
    const gasnet_seginfo_t *s = &gas_job.direct[at];
    uintptr_t offset = (uintptr_t)remote - (uintptr_t)s->addr;
    if (UNLIKELY(offset >= s->size || bytes - 1 > s->size - offset - 1)) /* also if there are no bytes */
        return NULL;
    struct gas_thread *t = gas_am_context.thread;
    if (UNLIKELY(!t || t->until_poll == 0)) /* direct_poll, or gas_transfer.c, polls */
        return NULL;
    t->until_poll--;
    return t;
}

/* For the slow path of a call. True: it was time to poll, and this has polled; the fast path is worth another try. */
static inline bool direct_poll(void) {
    struct gas_thread *t = gas_am_context.thread;
    if (!t || t->until_poll > 0 || !gas_is_attached() || !gas_am_is_free())
        return false;
    t->until_poll = TRANSFERS_TO_A_POLL;
    gas_poll_quickly();
    return true;
}

/* 8 and 4 bytes are moved by one load and one store. The ranges may overlap. */
DIRECT_FAST void gas_direct_copy(void *to, const void *from, size_t bytes) {
    if (LIKELY(bytes == 8))
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memmove(to, from, bytes);
}

/* False: nothing was done. */
DIRECT_FAST bool gas_direct_put(gasnet_node_t node, void *dest, const void *src, size_t bytes) {
    struct gas_thread *t = gas_direct_thread(node, dest, bytes);
    if (UNLIKELY(!t))
        return false;
    gas_stats_count_local(&t->stats, STATS_PUT, bytes);
    gas_direct_copy(dest, src, bytes);
    atomic_thread_fence(memory_order_seq_cst); /* as has_put in dram.c */
    return true;
}

DIRECT_FAST bool gas_direct_get(void *dest, gasnet_node_t node, const void *src, size_t bytes) {
    struct gas_thread *t = gas_direct_thread(node, src, bytes);
    if (UNLIKELY(!t))
        return false;
    gas_stats_count_local(&t->stats, STATS_GET, bytes);
    gas_direct_copy(dest, src, bytes);
    atomic_thread_fence(memory_order_acquire); /* as has_got in dram.c */
    return true;
}

#endif
