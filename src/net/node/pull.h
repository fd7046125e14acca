/* pull.h: copies from another process's memory. */
#ifndef HEARTH_NET_NODE_PULL_H
#define HEARTH_NET_NODE_PULL_H

#include <stddef.h>
#include <stdint.h>

/* Allows the processes that our parent started to pull from this one, where the system requires that. */
void net_pull_allow(void);

/* Copies all of it, from the other process or to it, or returns a negative code: -EPERM, -ENOSYS, -EFAULT, -ESRCH. */
int net_pull_copy(int process, uint64_t address, void *to, size_t bytes);
int net_pull_push(int process, uint64_t address, const void *from, size_t bytes);

/* The bytes from which net_pull_copy is faster than a message through shared memory: a power of two, from 16 KiB to
 * 64 KiB; or 4 MiB, beyond which the caches hold neither. It is measured on a segment of that process, at `address` there
 * and mapped at `here`; 16 KiB if that is too small. */
uint64_t net_pull_least(int process, uint64_t address, const char *here, size_t bytes);

#endif
