/* messages.h: messages between the processes of one node, through shared memory.
 *
 * Every process of the node owns a segment of at most `limit` bytes that the others map: a queue that all
 * may write to, and small boxes for the pairs that talk most. Calls on one node object are made by one
 * thread at a time, except where said. No call waits, but net_node_sleep.
 *
 * The messages of one sender to one receiver are handled in the order sent; between different senders there
 * is no order. */
#ifndef HEARTH_NET_NODE_MESSAGES_H
#define HEARTH_NET_NODE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/segment.h"

struct net_node;

struct net_options {
    int rank, count;     /* of the processes of this node: 0 ... count-1 */
    size_t limit;        /* most bytes of this process's segment; at least 16 KiB */
    size_t header_bytes; /* of every message, at most 64; the same in all processes */
};

/* Makes this process's segment. 0, or a negative code after one line that says what is missing (-ENOMEM,
 * -ENOSPC, -EPERM ...); the caller then does without. */
int net_node_open(const struct net_options *options, struct net_node **node, struct net_address *mine);

/* Maps those of the others; all[rank] is one's own. All of them must have been opened, and none closed. 0,
 * or a negative code after one line: -EPERM, -EACCES, -ENOENT where /proc does not lead to them, -ESTALE if
 * it leads to something else, -EPROTO if it is of another version, -ENOMEM ... On failure the caller
 * closes. */
int net_node_connect(struct net_node *node, const struct net_address all[]);

/* Nothing may be under way; what has arrived and was not polled is lost. The others may go on sending to
 * it, into the void. Leaves nothing behind, as a killed process does not either. NULL is nothing to close. */
void net_node_close(struct net_node *node);

/* The largest payload that net_node_send takes: a power of two, 16 KiB unless there are many processes or
 * the limit is small. The same in all processes that were given the same options. Final after
 * net_node_connect. */
size_t net_node_eager(const struct net_node *node);

/* A place for a message to this peer, written where the peer will read it: the header at once, the payload
 * of `bytes` by the caller into *payload (aligned to 8), then commit. 0, or -EAGAIN: no room until the peer
 * has polled; or -EMSGSIZE. Only one at a time, and no poll before the commit. The peer may be oneself. */
int net_node_reserve(struct net_node *node, int peer, const void *header, size_t bytes, void **payload);
void net_node_commit(struct net_node *node);

/* Both, for a payload in one piece. */
int net_node_send(struct net_node *node, int peer, const void *header, const void *payload, size_t bytes);

/* What has arrived: calls the handler for each message; header and payload (both aligned to 8) are valid
 * during the call, in which nothing may be polled, but messages may be sent. Returns how many; at most some
 * dozens per sender, so there may be more. 0 means that nothing was there: whatever was sent before is
 * found. */
typedef void net_handler(void *arg, int peer, const void *header, const void *payload, size_t bytes);
int net_node_poll(struct net_node *node, net_handler *handler, void *arg);

/* Copies from another process's memory into ours, by the kernel, in one copy. 0, or -EPERM, -ENOSYS where
 * the kernel does not allow it, which net_node_can_pull says beforehand (tried once with each peer, when
 * connecting); -EFAULT: no such memory, part of it may have been copied; -ESRCH: no such process. Any
 * thread. */
bool net_node_can_pull(const struct net_node *node);
int net_node_pull(struct net_node *node, int peer, uint64_t address, void *to, size_t bytes);

/* ---- a rank that sits in a call of the MPI library ---- */

/* Marks this process as inside the MPI library, where it does not poll, or no longer. Cheap; nests by the
 * caller. Without a fence: a process that marks itself and polls once more may miss a message whose sender
 * has just looked and seen no mark. Where that matters each side puts a fence (seq_cst) between its two
 * steps, or the sleeper's time is short. */
void net_node_inside(struct net_node *node, bool inside);

/* Whether that peer is marked. Any thread. */
bool net_node_is_inside(const struct net_node *node, int peer);

/* Wakes the thread that sleeps in net_node_sleep of that peer, or is the next to try: no wake is lost,
 * several may count as one. What was sent before is found by the one who wakes. Any thread. */
void net_node_wake(struct net_node *node, int peer);

/* Sleeps until woken, or for so long; UINT64_MAX: for ever. True if woken. One thread of its own, beside the
 * others' calls. */
bool net_node_sleep(struct net_node *node, uint64_t microseconds);

#endif
