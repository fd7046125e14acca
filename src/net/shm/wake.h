/* wake.h: a thread sleeps until another thread, of any process, wakes it. */
#ifndef HEARTH_NET_WAKE_H
#define HEARTH_NET_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* In shared memory; initially 0. */
struct wake {
    _Atomic uint32_t state;
};

/* The sleeper returns; if there is none, the next wait returns at once. The sleeper sees everything written before. */
void net_wake_up(struct wake *w);

/* Sleeps until woken, or for this long (UINT64_MAX: no limit). True if woken. One thread at a time. */
bool net_wake_wait(struct wake *w, uint64_t microseconds);

/* A thread that sleeps on a descriptor cannot be woken, for the reason in errno, and others would wait for it forever. Logs one line and
 * ends the job. Any thread. */
_Noreturn void net_wake_failed(const char *whom);

#endif
