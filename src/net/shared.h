/* shared.h: memory that all processes of a node map at the same address, so that an address of one means the
 * same to all of them and to the node's helper.
 *
 * Some or all processes of a node allocate together: each says how many bytes it wants, and one mapping holds
 * the parts of all. The file behind it has no name and is closed once all have mapped it: an allocation costs
 * no descriptor, and is gone when the last of the processes is. Pages are backed when they are first touched;
 * that there is memory for all of them is checked before. The helper's process maps it as well, even if it is not among them: it is asked through
 * `attach`. */
#ifndef HEARTH_NET_SHARED_H
#define HEARTH_NET_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/boot.h"
#include "net/segment.h"

/* What another process needs to map it as well. */
struct net_shared_place {
    struct net_address address;
    uint64_t base, bytes;
};

struct net_shared {
    char *base; /* NULL: no one wanted any */
    size_t bytes;
    struct net_shared_place place;
    int file;            /* of the first of them, if it was mapped by net_shared_map; else -1 */
    bool told;           /* that another process was asked to attach, and must be asked to detach */
    int count;           /* of those who allocated together */
    struct net_part {    /* [count], in the order of their ranks in `boot` */
        uint64_t offset; /* aligned to 64 */
        uint64_t bytes;  /* as asked for */
    } parts[];
};

/* How the process of the helper is asked to map a place, or to unmap it, by one of those who allocate; 0 or a
 * negative code (-EEXIST: something else is at that address there). NULL: it is among them. */
struct net_shared_far {
    void *arg;
    int (*attach)(void *arg, const struct net_shared_place *place);
    void (*detach)(void *arg, const struct net_shared_place *place);
};

/* Collective among the processes of `boot`, all of one node. 0 and the same everywhere, or a negative
 * code after a line, everywhere: -ENOMEM, -ENOSPC (with the room there is and the setting or limit to
 * change), -EMFILE, -EADDRNOTAVAIL (no address is free in all of them) ... and nothing is left. A part
 * of a page or more begins at a page, and its memory lies on the NUMA node of its process if it can. */
int net_shared_open(const struct net_boot *boot, size_t bytes, const struct net_shared_far *far,
                    struct net_shared **shared);

/* The same for address space out of which the caller hands out memory: it is not checked against the memory limit,
 * which is the caller's to do for what it hands out. */
int net_shared_map(const struct net_boot *boot, size_t bytes, const struct net_shared_far *far,
                   struct net_shared **shared);

/* Gives the descriptor back that net_shared_map keeps. Local. */
void net_shared_settle(struct net_shared *s);

/* Collective as well; nobody may touch it any more. */
void net_shared_close(const struct net_boot *boot, const struct net_shared_far *far, struct net_shared *s);

/* The same without a meeting, where the members know by other means that nobody touches it. */
void net_shared_leave(const struct net_shared_far *far, struct net_shared *s);

/* What the asked process does: maps or unmaps that place in this process. */
int net_shared_attach(const struct net_shared_place *place);
void net_shared_detach(const struct net_shared_place *place);

/* ---- which memory of this process is such memory ---- */

/* Whether all of [address, address + bytes) lies in one mapping made above, in this process. Any
 * thread; never waits. *base and *size, unless NULL: the mapping. -EAGAIN: the list is just being
 * changed, ask again; -EFAULT: no. */
int net_shared_check(const void *address, size_t bytes, char **base, size_t *size);

#endif
