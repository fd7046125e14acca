/* stats.h: operation counters of a process, for vgasnet_stats and the report at the end. */
#ifndef HEARTH_GAS_STATS_H
#define HEARTH_GAS_STATS_H

#include "gas/process/process.h"

enum stats_kind { STATS_GET, STATS_PUT, STATS_SET, STATS_KINDS };
enum { STATS_SIZES = 8 /* up to 8 B, 64 B, 512 B, 4 KB, 32 KB, 256 KB, 2 MB, above */ };

/* Written by one thread, read by any: loads and stores are atomic, so that they do not tear. The number of all calls is the sum of
 * `sizes`: calls on the own node have no separate counter, because each counter costs time in every put and get. */
struct stats_numbers {
    _Atomic uint64_t sizes[STATS_KINDS][STATS_SIZES];
    _Atomic uint64_t bytes[STATS_KINDS][2]; /* [1]: to other nodes */
    _Atomic uint64_t remote_calls[STATS_KINDS];
};

/* Of a thread, in a list of all. */
struct stats_thread {
    struct stats_numbers numbers;
    struct stats_thread *next, *previous;
};
void gas_stats_join(struct stats_thread *t);
void gas_stats_leave(struct stats_thread *t);

static inline void gas_stats_add(_Atomic uint64_t *number, uint64_t n) {
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static inline unsigned gas_stats_size(uint64_t bytes) {
    unsigned size = bytes <= 8 ? 0 : (unsigned)(64 - __builtin_clzll(bytes - 1) - 1) / 3;
    return size < STATS_SIZES ? size : STATS_SIZES - 1;
}

static inline void gas_stats_count_at(struct stats_thread *t, enum stats_kind kind, bool remote,
                                      uint64_t bytes) {
    gas_stats_add(&t->numbers.sizes[kind][gas_stats_size(bytes)], 1);
    gas_stats_add(&t->numbers.bytes[kind][remote], bytes);
    if (remote)
        gas_stats_add(&t->numbers.remote_calls[kind], 1);
}

static inline void gas_stats_count(struct stats_thread *t, enum stats_kind kind, gasnet_node_t node,
                                   uint64_t bytes) {
    gas_stats_count_at(t, kind, !gas_same_node(node), bytes);
}

static inline void gas_stats_count_local(struct stats_thread *t, enum stats_kind kind, uint64_t bytes) {
    gas_stats_count_at(t, kind, false, bytes);
}

/* Writes the report of HEARTH_REPORT. Collective; before segments and network are closed. */
void gas_stats_report(void);

#endif
