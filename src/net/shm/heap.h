/* heap.h: memory that the members of a group allocate collectively and repeatedly, with one collective exchange per
 * allocation.
 *
 * A block is the memory of one allocation on each node: the parts of the node's members, one after the other. It has
 * the same offset on all nodes, in *chunks*: address space that the members on a node map once, at the same address
 * (shared.h). All members make the same calls in the same order and keep the same bookkeeping. So each of them
 * computes the addresses of all parts from the sizes alone. Pages are backed when they are first touched. */
#ifndef HEARTH_NET_HEAP_H
#define HEARTH_NET_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/boot/boot.h"
#include "net/shm/reserve.h"
#include "net/shm/shared.h"

struct net_heap;

/* The group, and its memory limit. */
struct net_heap_group {
    struct net_boot all;  /* all members */
    struct net_boot node; /* the members on this node, in the same order */
    const int *node_of;   /* [all.size]: equal for members on the same node; copied */
    struct net_reserve *reserve;
    const struct net_shared_remote *remote; /* as in net_shared_open; must outlive the heap */
};

/* Local. NULL: out of memory. */
struct net_heap *net_heap_open(const struct net_heap_group *group);

/* Local. No member may access any block any more, except forgotten ones: if there are any, all chunks stay mapped. */
void net_heap_close(struct net_heap *h);

struct net_heap_part {
    uint64_t base, bytes; /* valid on the owner's node; base 0: the member has no part */
};

/* The addresses of parts of one size are computed; those of different sizes are stored. */
struct net_heap_block {
    struct heap_chunk *chunk;    /* NULL: an allocation of 0 bytes */
    uint64_t each, stride;       /* size of all parts, and their distance on a node, if `parts` is NULL */
    struct net_heap_part *parts; /* [all.size]; NULL: all have the same size */
    uint64_t offset, bytes;      /* the same on all nodes */
    char *base;                  /* on this node */
    uint64_t own_offset;         /* this process returns the pages of the block from here ... */
    uint64_t own_end;            /* ... to here */
    uint64_t reserved;           /* bytes reserved by this process */
};

/* Collective. `bytes`: size of this member's part. `status`: 0, or an earlier error of this member, which makes the
 * call fail in all. `owner`: returned by net_heap_owner for the block's addresses. The contents are undefined.
 * Returns 0 and the same parts everywhere, or a negative code after logging an error, everywhere. */
int net_heap_take(struct net_heap *h, uint64_t bytes, int status, void *owner, struct net_heap_block *block);

/* A member's part. Any thread. */
struct net_heap_part net_heap_part(const struct net_heap *h, const struct net_heap_block *block, int member);

/* Bytes that a heap keeps in each process for each member; and a block, for each member, if its parts differ in size. */
size_t net_heap_member_bytes(void);
size_t net_heap_part_bytes(void);

/* Local. All members have synchronised since the last access to the block, and all return it before they take the
 * next. */
void net_heap_give(struct net_heap *h, struct net_heap_block *block);

/* The block stays mapped for the life of the process, and the heap no longer manages it. Local. */
void net_heap_forget(struct net_heap *h, struct net_heap_block *block);

/* Whether blocks of this heap may contain the address, on this node. */
bool net_heap_covers(const struct net_heap *h, const void *address);

/* The owner of the block that contains all of [address, address + bytes); NULL: none. Any thread, lock-free. */
void *net_heap_owner(const void *address, size_t bytes);

#endif
