/* wake.h: one thread sleeps until another, of any process, wakes it. */
#ifndef HEARTH_NET_WAKE_H
#define HEARTH_NET_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In memory that both share; 0 at first. */
struct wake {
    _Atomic uint32_t state;
};

/* The sleeper returns, or will not fall asleep the next time. Whatever was written before is seen by it. */
void wake_up(struct wake *w);

/* Until woken, or for so long; UINT64_MAX: for ever. True if woken. One thread at a time. */
bool wake_wait(struct wake *w, uint64_t microseconds);

#endif
