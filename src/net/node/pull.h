/* pull.h: copies out of another process's memory. */
#ifndef HEARTH_NET_NODE_PULL_H
#define HEARTH_NET_NODE_PULL_H

#include <stddef.h>
#include <stdint.h>

/* Lets the processes that our parent started pull from this one, where the system asks for that. */
void pull_allow(void);

/* All of it, or a negative code: -EPERM, -ENOSYS, -EFAULT, -ESRCH. */
int pull(int process, uint64_t address, void *to, size_t bytes);

#endif
