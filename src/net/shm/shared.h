/* shared.h: memory that all processes of a node map at the same address, so that an address is valid in all of them
 * and in the node's helper.
 *
 * Some or all processes of a node allocate collectively: each says how many bytes it wants, and one mapping holds
 * all parts. The file behind it has no name, and vanishes with the last of the processes. Pages are backed when they
 * are first touched. The call checks that there is memory for all of them, and promises it (promise.h). Once all have
 * mapped the file, they close it; only for a large allocation the first member keeps it open, so that its backed pages
 * can be counted. The helper's process maps the memory too, even if it is not a member: the members ask it through
 * `attach`. */
#ifndef HEARTH_NET_SHARED_H
#define HEARTH_NET_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/boot/boot.h"
#include "net/shm/segment.h"

struct net_promise;

/* Location of a mapping, for other processes to map it. */
struct net_shared_place {
    struct net_address address;
    uint64_t base, bytes;
};

struct net_shared {
    char *base; /* NULL: all members asked for 0 bytes */
    size_t bytes;
    struct net_shared_place place;
    int file;                    /* descriptor, in the first member if it keeps one; else -1 */
    struct net_promise *promise; /* in the first member; NULL: small, or the caller accounts for it */
    bool told;                   /* another process was asked to attach, and must be asked to detach */
    int count;                   /* members of the allocation */
    struct net_part {            /* [count], in the order of their ranks in `boot` */
        uint64_t offset;         /* aligned to 64 */
        uint64_t bytes;          /* as requested */
    } parts[];
};

/* How a member asks the helper's process to map or unmap a place. attach returns 0 or a negative code (-EEXIST: the
 * address is in use there). NULL: the helper's process is a member. */
struct net_shared_remote {
    void *arg;
    int (*attach)(void *arg, const struct net_shared_place *place);
    void (*detach)(void *arg, const struct net_shared_place *place);
};

/* Collective among the processes of `boot`, all on one node. Returns 0 and the same content everywhere, or a
 * negative code after logging an error, everywhere: -EFBIG (more than the node has left, whatever other jobs were
 * promised), -ENOMEM, -ENOSPC (the message names the memory left and the setting or limit to change), -EMFILE,
 * -EADDRNOTAVAIL (no address is free in all members) ... After an error nothing is left. A part of at least a page begins at a page boundary, and lies on the NUMA node of its process if
 * possible. */
int net_shared_open(const struct net_boot *boot, size_t bytes, const struct net_shared_remote *remote,
                    struct net_shared **shared);

/* The same, without the exchange of the sizes: `sizes` has those of all members, equal everywhere. */
int net_shared_open_sizes(const struct net_boot *boot, const uint64_t sizes[], struct net_shared **shared);

/* The same for address space from which the caller allocates. It is not checked against the memory limit; the caller
 * checks each allocation. The first member keeps the descriptor. */
int net_shared_map(const struct net_boot *boot, size_t bytes, const struct net_shared_remote *remote,
                   struct net_shared **shared);

/* Closes the descriptor that the first member keeps, and ends the promise. Local. */
void net_shared_settle(struct net_shared *s);

/* Collective. No process may access the memory any more. */
void net_shared_close(const struct net_boot *boot, const struct net_shared_remote *remote,
                      struct net_shared *s);

/* The same without a barrier, for members that know by other means that no process accesses the memory. */
void net_shared_leave(const struct net_shared_remote *remote, struct net_shared *s);

/* The other side of net_shared_remote, in the helper's process: maps or unmaps that place. */
int net_shared_attach(const struct net_shared_place *place);
void net_shared_detach(const struct net_shared_place *place);

/* ---- lookup: is this address shared memory? ---- */

/* Whether all of [address, address + bytes) lies in one of the mappings above, in this process. Any thread; never
 * blocks. *base and *size, unless NULL, get the mapping. -EAGAIN: the list is being changed, retry; -EFAULT: no. */
int net_shared_check(const void *address, size_t bytes, char **base, size_t *size);

#endif
