/* pull.h: copies from another process's memory. */
#ifndef HEARTH_NET_NODE_PULL_H
#define HEARTH_NET_NODE_PULL_H

#include <stddef.h>
#include <stdint.h>

/* Allows the processes that our parent started to pull from this one, where the system requires that. */
void net_pull_allow(void);

/* Copies all of it, or returns a negative code: -EPERM, -ENOSYS, -EFAULT, -ESRCH. */
int net_pull_copy(int process, uint64_t address, void *to, size_t bytes);

#endif
