/* heap.h: memory that the members of a group allocate together, again and again, with one meeting each time.
 *
 * A block is what one allocation takes on each node: the parts of the node's members, one behind the other. It lies at
 * the same offset on all nodes, in *chunks*: address space that the members on a node map once, at the same address
 * (shared.h). All members do the same calls in the same order and keep the same books, so that each of them finds the
 * addresses of all by itself, once it knows the sizes. Memory is backed when it is touched. */
#ifndef HEARTH_NET_HEAP_H
#define HEARTH_NET_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "net/boot.h"
#include "net/reserve.h"
#include "net/shared.h"

struct net_heap;

/* Who allocates together, and under which limit. */
struct net_heap_group {
    struct net_boot all;  /* the members */
    struct net_boot node; /* those on this node, in the same order */
    const int *node_of;   /* [all.size]: equal numbers where members share a node; copied */
    struct net_reserve *reserve;
    const struct net_shared_far *far; /* as in net_shared_open; must live as long */
};

/* Local. NULL: no memory. */
struct net_heap *net_heap_open(const struct net_heap_group *group);

/* Local as well; all members know that nobody touches any block any more. What was forgotten stays mapped. */
void net_heap_close(struct net_heap *h);

struct net_heap_part {
    uint64_t base, bytes; /* as its owner and all on its node see it; base 0: it has none */
};

struct net_heap_block {
    struct heap_chunk *chunk; /* NULL: nobody wanted any */
    uint64_t offset, bytes;   /* the same on all nodes */
    char *base;               /* on this node */
    uint64_t own_offset;      /* in the block: pages from here on are ours to give back ... */
    uint64_t own_end;         /* ... up to here */
    uint64_t reserved;        /* by this process */
};

/* Collective: `bytes` for this member. `status`: 0, or what failed before; it then fails in all. `owner`: found with
 * the block's addresses (mapped.h). Contents are not defined. 0 and the same parts everywhere, or a negative code after a
 * line, everywhere. */
int net_heap_take(struct net_heap *h, uint64_t bytes, int status, void *owner, struct net_heap_part parts[],
                  struct net_heap_block *block);

/* Local: all members have met since the last access to it, and all give it back before they take the next one. */
void net_heap_give(struct net_heap *h, struct net_heap_block *block);

/* The block stays as it is, for as long as the process lives, and the heap does not know it any more. */
void net_heap_forget(struct net_heap *h, struct net_heap_block *block);

/* Whether blocks of this heap may lie there, on this node. */
bool net_heap_covers(const struct net_heap *h, const void *address);

/* The owner of the block that holds all of [address, address + bytes); NULL: there is none. Any thread, no lock. */
void *net_heap_owner(const void *address, size_t bytes);

#endif
