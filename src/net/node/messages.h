/* messages.h: messages between the processes of one node, through shared memory.
 *
 * Every process of the node owns a segment of at most `limit` bytes that the others map: a queue that all may write
 * to, and small boxes for the pairs that communicate most. Only one thread at a time may call functions on a node
 * object, except where noted. No call blocks, except net_node_sleep.
 *
 * The messages of one sender to one receiver are handled in the order sent. There is no order between different
 * senders. */
#ifndef HEARTH_NET_NODE_MESSAGES_H
#define HEARTH_NET_NODE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/shm/segment.h"

struct net_node;

struct net_options {
    int rank, count;     /* among the processes of this node: 0 ... count-1 */
    size_t limit;        /* most bytes of this process's segment; at least 16 KiB */
    size_t header_bytes; /* of every message, at most 64; the same in all processes */
};

/* Creates this process's segment. Returns 0, or a negative code (-ENOMEM, -ENOSPC, -EPERM ...) after a warning that
 * names the cause. The caller then sends its messages through MPI. */
int net_node_open(const struct net_options *options, struct net_node **node, struct net_address *mine);

/* Maps the segments of the other processes; all[rank] is the address of this process's own. All must have been opened,
 * and none closed. Returns 0, or a negative code after logging one line: -EPERM, -EACCES, -ENOENT if a segment cannot
 * be opened through /proc, -ESTALE if the file found there is not the segment, -EPROTO if it is of another version,
 * -ENOMEM ... On failure the caller closes the node. */
int net_node_connect(struct net_node *node, const struct net_address all[]);

/* No operation may be in progress. Messages that have arrived and were not polled are lost. The others may go on
 * sending to this process, without effect. Leaves nothing behind; nor does a killed process. NULL is allowed. */
void net_node_close(struct net_node *node);

/* The largest payload that net_node_send accepts: a power of two, 16 KiB unless there are many processes or the
 * limit is small. The same in all processes with the same options. Final after net_node_connect. */
size_t net_node_eager(const struct net_node *node);

/* Reserves space for a message to this peer, where the peer will read it. The call writes the header; the caller
 * writes `bytes` of payload to *payload (aligned to 8) and then commits. Returns 0; -EAGAIN: no space until the peer
 * has polled; or -EMSGSIZE. One reservation at a time, and no poll before the commit. The peer may be this process. */
int net_node_reserve(struct net_node *node, int peer, const void *header, size_t bytes, void **payload);
void net_node_commit(struct net_node *node);

/* Reserves, copies a contiguous payload, and commits. */
int net_node_send(struct net_node *node, int peer, const void *header, const void *payload, size_t bytes);

/* Calls the handler for each message that has arrived. Header and payload (both aligned to 8) are valid during the
 * call. The handler must not poll, but may send. Returns the number of messages handled. One call handles at most some
 * dozens per sender, so more may be waiting. 0: no message sent before the call is left. */
typedef void net_handler(void *arg, int peer, const void *header, const void *payload, size_t bytes);
int net_node_poll(struct net_node *node, net_handler *handler, void *arg);

/* Copies from another process's memory into ours, or from ours into its, in one copy by the kernel. Returns 0, or a
 * negative code. -EPERM, -ENOSYS: the kernel does not allow it; -EFAULT: no such memory, part of it may have been
 * copied; -ESRCH: no such process. Any thread. */
int net_node_pull(struct net_node *node, int peer, uint64_t address, void *to, size_t bytes);
int net_node_push(struct net_node *node, int peer, uint64_t address, const void *from, size_t bytes);

/* Whether the kernel allowed this process to pull from every peer, tried once in net_node_connect; and the bytes from
 * which a pull is then faster than a message, as measured there: a power of two, at least 16 KiB. */
bool net_node_can_pull(const struct net_node *node);
uint64_t net_node_pull_from(const struct net_node *node);

/* A piece of work that either this process or a peer is to do. net_node_offer numbers it and ends the offer before;
 * net_node_claim is true for the first process that claims it, and false for all others. `peer`: the process that
 * offered. Any thread may claim. */
uint64_t net_node_offer(struct net_node *node);
bool net_node_claim(struct net_node *node, int peer, uint64_t offer);

/* ---- ranks that block in the MPI library ---- */

/* Marks this process as inside the MPI library, where it does not poll, or as outside. Cheap; the caller handles
 * nesting. There is no fence: a process that marks itself and polls once more may miss a message whose sender has
 * just read the mark as unset. Where that matters, each side puts a seq_cst fence between its two steps, or the
 * sleep is short. */
void net_node_inside(struct net_node *node, bool inside);

/* Whether that peer is marked. Any thread. */
bool net_node_is_inside(const struct net_node *node, int peer);

/* Wakes the thread that sleeps in net_node_sleep of that peer, or the next one that tries to. No wake is lost;
 * several may count as one. The woken thread finds everything sent before. Any thread. */
void net_node_wake(struct net_node *node, int peer);

/* Sleeps until woken, or for this long; UINT64_MAX: no limit. True if woken. One thread, concurrently with the other
 * calls. */
bool net_node_sleep(struct net_node *node, uint64_t microseconds);

#endif
