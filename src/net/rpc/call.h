/* call.h: operations on the memory of other nodes, executed by their helpers.
 *
 * An operation is one or more blocks to one helper, each small enough for one of its receive buffers (net/rpc/flow.h).
 * The caller supplies a function that makes the next block and, if the operation has an answer, one that consumes a
 * piece of the answer. The serving side has registered a handler, which the helper's thread calls. Operations to the
 * same helper are sent, and executed there, in the order in which they were started.
 *
 *      net_start -> next, next ... -> | network | -> handler -> answer -> take -> done
 *
 * Only one thread of a process may start operations and wait for them. */
#ifndef HEARTH_NET_CALL_H
#define HEARTH_NET_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/boot/boot.h"
#include "net/shm/heap.h"
#include "net/shm/mailbox.h"
#include "net/shm/shared.h"
#include "net/shm/lock_table.h"
#include "net/node/world.h"

enum {
    NET_HEADER = 160 /* bytes for the caller in a block's header */,
    NET_HANDLERS = 32 /* of a service */
};

/* A helper offers one service, or two if two libraries of its process use it (share.h). Handlers, and requests of the node's own
 * processes, have numbers of their service: */
enum net_service_number { NET_SERVICE_MAIN, NET_SERVICE_WINDOWS, NET_SERVICES };
#define NET_HANDLER(service, number) ((service)*NET_HANDLERS + (number))
#define NET_LOCAL(service, number)   ((uint32_t)(service) << 16 | (number))

struct net; /* one per process */

/* ---- serving: in the helper's thread ---- */

/* A block, as its handler sees it. */
struct net_block {
    int client; /* rank */
    const void *header;
    size_t header_bytes;
    const void *payload; /* aligned to 16 */
    size_t bytes;

    /* The handler writes `answer_bytes` bytes to `answer` (aligned to 16): the part of the block's answer that
     * begins at byte `answer_offset`. 0 bytes: the block has no answer. Or it points `answer` at memory that stays mapped
     * until the client has received the answer: that is sent from there, now or a little later. */
    void *answer;
    size_t answer_bytes, answer_offset;

    uint64_t resume; /* 0 at first; a handler that returns NET_LATER may store its progress here */
    uint64_t reply;  /* identifies this block to net_reply */
    /* Set by the handler: bytes that it computed with. The helper's affinity rule uses it (affinity.h). */
    size_t computed;
};

enum net_result {
    NET_DONE,
    NET_LATER, /* a resource is held elsewhere: the helper serves other clients, then calls again */
};
typedef enum net_result net_serve(void *arg, struct net_block *b);

/* A request from a process of this node (mailbox.h). NET_DONE: *answer is set. NET_LATER: the service answers later,
 * with net_answer_local(cell). */
typedef enum net_result net_serve_local(void *arg, int process, const struct mailbox_request *r, int cell,
                                        int64_t *answer);

struct net_service {
    enum net_service_number number;
    void *arg;
    net_serve *handlers[NET_HANDLERS];
    net_serve_local *local;
    /* Whether callers that wait may call the handlers, too: see drive.h. Such handlers take no lock that a caller may hold. */
    bool callers_serve;
    /* A process is unreachable; rank -1: unknown which. Called in any thread. */
    void (*failed)(void *arg, int rank, const char *why);
};

/* Answers that are sent after the handler has returned: to a block of another node (at most 32 bytes), or to a process of
 * this node. In the helper's thread only. */
void net_reply(struct net *n, int helper, uint64_t reply, const void *data, size_t bytes);
void net_answer_local(struct net *n, int cell, int64_t answer);

/* ---- opening and closing: collective, by all processes ---- */

/* Counters, for reports. The counters of helpers are 0 in processes that run no helper. They are final once the helpers
 * have ended, which is why net_close returns them too. */
struct net_counts {
    uint64_t blocks, bytes, waits, size_hints, grants; /* as a client */
    uint64_t served, served_bytes, local, granted, refused, retried, wakes, moves;
    double busy_seconds, seconds; /* CPU time of the helpers, and the time since they started */
    uint64_t buffers, buffer_bytes, pool_buffers, pool_buffer_bytes, arena_bytes;
};

int net_open(const struct net_boot *boot, struct net_world *world, const struct net_service *service,
             const void *comm, struct net **net);
void net_close(struct net *n, const struct net_boot *boot, struct net_counts *counts /* may be NULL */);

/* Adds a service to an open engine, in all processes, before any of them may use it; and removes one that no process uses any
 * more. Local. */
void net_join(struct net *n, const struct net_service *service);
void net_leave(struct net *n, enum net_service_number service);
bool net_offers(const struct net *n, enum net_service_number service);

struct net_lock_table *net_lock_table(struct net *n);
/* Bytes of payload, and of answer, for which there is always room in a block. */
size_t net_block_bytes(const struct net *n);
struct mailbox *net_mailbox(struct net *n);

/* ---- operations, as a client ---- */

struct net_op;

/* One block to send. */
struct net_out {
    void *header; /* NET_HEADER bytes, to be written */
    size_t header_bytes;
    /* Room for `room` bytes, to be written. Or point it at memory that stays unchanged until the operation is sent. */
    void *payload;
    size_t bytes;        /* of the payload */
    size_t answer_bytes; /* that the block asks for */
};

/* Makes the next block of an operation, with at most `room` bytes of payload and `answer_room` bytes of answer; no limit
 * to the answer if the operation streams.
 * Returns how many of the operation's `left` bytes it covers: at least 1, unless none is left. */
typedef size_t net_next(struct net_op *op, size_t room, size_t answer_room, struct net_out *out);

/* Consumes `bytes` bytes of the operation's answer, from byte `offset` on. Called once per piece, in any order. */
typedef void net_take(struct net_op *op, size_t offset, const void *data, size_t bytes);

struct net_op {
    /* Set by the caller. */
    uint8_t handler;   /* NET_HANDLER */
    bool fetches;      /* `left` counts bytes of answer */
    bool waits;        /* its answer comes by net_reply */
    bool first_helper; /* must be served by helper 0 of the node */
    bool streams; /* fetches, and one block may ask for any number of bytes: its answer needs no buffers */
    /* Bytes not yet in blocks: of the payload, or, if it fetches, of the answer. 0: one empty block. */
    uint64_t left;
    net_next *next;
    net_take *take;
    void *arg;

    /* Private to net. */
    uint8_t state;
    uint32_t id;
    uint32_t under_way; /* blocks whose send has not completed locally */
    uint64_t asked, answered;
    struct net_op *after;
};

/* Starts an operation on `node`, which must be another node. Sends as many blocks as it can at once. `op` belongs to
 * net until net_is_sent and, if the operation has an answer, until net_is_done. */
void net_start(struct net *n, int node, struct net_op *op);

/* All blocks are sent, and the memory that they were sent from may be reused. If the operation has no answer, net no
 * longer references it. */
bool net_is_sent(const struct net_op *op);
/* The whole answer has arrived. */
bool net_is_done(const struct net_op *op);

/* Blocks to the helper of this process on that node that are not known to be done. */
uint32_t net_under_way(const struct net *n, int node);

/* Receives arrived messages and sends queued blocks. */
void net_progress(struct net *n);

/* Sleeps until a message may have arrived, at most this long; for callers that wait for a net_reply and have other work
 * from time to time. */
void net_nap(struct net *n, uint64_t most_us);

/* Makes progress until the operation is sent or done; sleeps if it takes long. Ends the job through `failed` if no
 * message at all arrives from that node for HEARTH_NET_TIMEOUT seconds, except while waiting for a net_reply, which may
 * take any time. */
void net_wait_sent(struct net *n, int node, struct net_op *op);
void net_wait_done(struct net *n, int node, struct net_op *op);

/* Waits until everything started on that node, or on all nodes, is done there. */
void net_fence(struct net *n, int node);
void net_fence_all(struct net *n);

void net_count(const struct net *n, struct net_counts *c);

#endif
