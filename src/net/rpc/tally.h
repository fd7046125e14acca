/* tally.h: a counter that one thread changes, and others read while it does. */
#ifndef HEARTH_NET_TALLY_H
#define HEARTH_NET_TALLY_H

#include <stdint.h>

/* A load and a store: the thread pays for no locked instruction. */
static inline void tally_add(uint64_t *to, uint64_t more) {
    __atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

static inline uint64_t tally_read(const uint64_t *from) {
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

#endif
