/* memory.h: allocations that all members of a group made together. */
#ifndef HEARTH_ARMCI_MEMORY_H
#define HEARTH_ARMCI_MEMORY_H

#include "armci/inside.h"

struct allocation {
    struct allocation *next;
    struct net_shared *shared;   /* of the members on this node */
    struct net_boot node;        /* these members */
    int count;                   /* of all members */
    struct reach *reach;         /* [nodes]: around the helpers; NULL: only through them */
    struct link_memory *exposed; /* what this process, its node's leader, has others reach; or NULL */
    int *member_of;              /* [size]: by absolute id, -1: none; NULL: all are, in this order */
    struct owned {
        uint64_t base, bytes; /* as the owner sees it */
    } parts[];
};

/* The allocation that holds all of [low, high) of that process's memory, or NULL. */
struct allocation *memory_find(int proc, const void *low, const void *high);

/* How the memory of a node is reached without its helper: NULL if it is not. */
struct link_window *memory_window(struct allocation *a, int node);

/* No memory is reached around the helpers any more: before the network is closed. Nothing is under way. */
void memory_close_reach(void);

/* What is left when ARMCI is closed: collective over all. */
void memory_close_all(void);

#endif
