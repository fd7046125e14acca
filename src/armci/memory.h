/* memory.h: allocations that all members of a group made together. */
#ifndef HEARTH_ARMCI_MEMORY_H
#define HEARTH_ARMCI_MEMORY_H

#include "armci/find.h"
#include "armci/inside.h"

/* Of a group that has allocated: found by its communicator. */
struct memory_group {
    struct memory_group *next;
    struct net_heap *heap;
    MPI_Comm node;    /* its members on this node */
    int *member_of;   /* [size]: by absolute id, -1: none; NULL: all are, in this order */
    int64_t numbered; /* allocations so far */
    unsigned uses;    /* by the communicator, and by each allocation */
};

struct allocation {
    struct allocation *next;
    struct memory_group *group;
    struct net_heap_block block;
    int64_t number;              /* in its group, the same in all members; from 1 on */
    int count;                   /* of all members */
    struct reach *reach;         /* [nodes]: around the helpers; NULL: only through them */
    struct link_memory *exposed; /* what this process, its node's leader, has others reach; or NULL */
    struct net_heap_part parts[];
};

/* The allocation that holds all of [low, high) of that process's memory, or NULL. */
struct allocation *memory_find(int proc, const void *low, const void *high);

/* Whether it is memory of this node from which ARMCI allocates, allocated or not. */
bool memory_is_heap(const void *address);

/* No memory is reached around the helpers any more: before the network is closed. Nothing is under way. */
void memory_close_reach(void);

/* What is left when ARMCI is closed. */
void memory_close_all(void);

#endif
