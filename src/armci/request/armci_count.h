/* armci_count.h: counters of a process, for the report at the end. */
#ifndef HEARTH_ARMCI_COUNT_H
#define HEARTH_ARMCI_COUNT_H

#include "armci/request/find.h"
#include "armci/request/armci_transfer.h"
#include "base/compiler.h"
#include "observe/live.h"

enum count_kind {
    COUNT_PUT,
    COUNT_GET,
    COUNT_ACC,
    COUNT_RMW,
    COUNT_LOCK,
    COUNT_FENCE,
    COUNT_BARRIER,
    COUNT_KINDS
};
enum { COUNT_SIZES = 8 /* up to 8 B, 64 B, 512 B, 4 KB, 32 KB, 256 KB, 2 MB, above */ };

struct counts {
    uint64_t calls[COUNT_KINDS][2]; /* [1]: remote nodes */
    uint64_t bytes[COUNT_KINDS][2];
    uint64_t sizes[COUNT_KINDS][COUNT_SIZES];
};
/* In memory of its own, for hearth top: see live.h. */
union counted {
    struct counts of;
    char alone[LIVE_ALONE];
};
extern union counted armci_counters HIDDEN;

static inline unsigned armci_count_size(uint64_t bytes) {
    unsigned size = bytes <= 8 ? 0 : (unsigned)(64 - __builtin_clzll(bytes - 1) - 1) / 3;
    return size < COUNT_SIZES ? size : COUNT_SIZES - 1;
}

/* A load and a store: concurrent threads may lose a count, but no thread pays for a locked instruction. */
static inline void armci_count_add(uint64_t *to, uint64_t more) {
    __atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

static inline void armci_count_call(enum count_kind kind, enum way way, uint64_t bytes) {
    armci_count_add(&armci_counters.of.calls[kind][way == WAY_REMOTE], 1);
    armci_count_add(&armci_counters.of.bytes[kind][way == WAY_REMOTE], bytes);
    armci_count_add(&armci_counters.of.sizes[kind][armci_count_size(bytes)], 1);
}

static inline void armci_count_transfer(enum transfer_kind kind, enum way way, uint64_t bytes) {
    armci_count_call((enum count_kind)kind, way, bytes);
}

/* Publishes the counters for hearth top. */
void armci_count_show(void);

/* Prints the report that HEARTH_REPORT asks for. */
void armci_count_report(const struct net_counts *net);

#endif
