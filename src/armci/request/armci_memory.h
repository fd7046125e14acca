/* armci_memory.h: collective allocations of the members of a group. */
#ifndef HEARTH_ARMCI_MEMORY_H
#define HEARTH_ARMCI_MEMORY_H

#include "armci/request/find.h"
#include "armci/job/armci_internal.h"

/* A group that has allocated; found by its communicator. */
struct memory_group {
    struct memory_group *next;
    struct net_heap *heap;
    MPI_Comm node;    /* its members on this node */
    int *member_of;   /* [size]: by absolute id, -1: not a member; NULL: all are, in this order */
    int64_t numbered; /* allocations so far */
    unsigned uses;    /* references: the communicator, and each allocation */
};

struct allocation {
    struct allocation *next;
    struct memory_group *group;
    struct net_heap_block block;
    int64_t number;              /* in its group, the same in all members; from 1 on */
    int count;                   /* number of members */
    struct reach *reach;         /* [nodes]: direct access; NULL: only through the helpers */
    struct link_memory *exposed; /* memory that this process, its node's leader, exposes; or NULL */
};

/* By ARMCI_Init, before any thread allocates. */
void armci_memory_open(void);

/* A member's part of the allocation. */
static inline struct net_heap_part armci_memory_part(const struct allocation *a, int member) {
    return net_heap_part(a->group->heap, &a->block, member);
}

/* The allocation that contains all of [low, high) of that process's memory, or NULL. */
struct allocation *armci_memory_find(int proc, const void *low, const void *high);

/* Whether the address is memory of this node from which ARMCI allocates, allocated or not. */
bool armci_memory_is_heap(const void *address);

/* Ends direct access, before the network is closed. No operation may be pending. */
void armci_memory_close_reach(void);

/* Frees the bookkeeping of the remaining allocations when ARMCI is closed. Their memory is freed with the process. */
void armci_memory_close_all(void);

#endif
