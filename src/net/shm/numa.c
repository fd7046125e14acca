/* numa.c: sets the NUMA policy of shared memory. The policy belongs to the file, not to the mapping, so it holds for
 * all processes that map it.
 *
 * Most machines have one NUMA node. This is checked once, and without a second node no system call is made. */
#include "net/shm/numa.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MPOL_PREFERRED_NODE = 1, MOST_NODES = 1024, WORD = 8 * sizeof(unsigned long) };

static bool has_nodes(void) {
    static _Atomic int known; /* 1: one node, 2: more */
    if (!known)
        known = access("/sys/devices/system/node/node1", F_OK) == 0 ? 2 : 1;
    return known == 2;
}

void net_numa_prefer(void *base, size_t bytes) {
    unsigned long nodes[MOST_NODES / WORD] = {0};
    unsigned node;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)base + page - 1) / page * page,
              end = ((uintptr_t)base + bytes) / page * page;
    if (!has_nodes() || first >= end || syscall(SYS_getcpu, NULL, &node, NULL) != 0 || node >= MOST_NODES)
        return;
    nodes[node / WORD] = 1ul << node % WORD;
    syscall(SYS_mbind, first, end - first, MPOL_PREFERRED_NODE, nodes, (unsigned long)MOST_NODES, 0);
}
