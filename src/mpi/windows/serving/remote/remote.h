/* remote.h: operations on targets of other nodes, which their helpers execute. Each call takes a target t with
 * t->remote set. */
#ifndef HEARTH_MPI_SERVE_REMOTE_H
#define HEARTH_MPI_SERVE_REMOTE_H

#include "data/data.h"
#include "mpi/windows/serving/remote/domain.h"

/* ---- remote_request.c: the origin ---- */

enum remote_direction { REMOTE_GET, REMOTE_PUT };

/* A side of a copy: its first byte, here or at the target, and its layout. */
struct remote_side {
    uint64_t first;
    struct layout *layout;
};

/* Copies `bytes` packed bytes, at least 1. When it returns, the memory of a put may be reused; the data of a get arrives
 * before a flush, or serve_remote_wait, returns. A get may take over the layouts, which are then empty. Returns 0 or
 * -EFAULT: there is no such memory in a dynamic window. */
int serve_remote_copy(const struct served_target *t, enum remote_direction direction,
                      const struct remote_side *here, const struct remote_side *there, uint64_t bytes);

/* Waits until the data of all gets from this target, or from all targets of the window, has arrived, and the buffers of all
 * puts may be reused. */
void serve_remote_wait(const struct served_target *t);
void serve_remote_wait_all(const struct served *s);
/* Waits for the data of long gets from this node: the helper sends it from the window's memory, and the request that follows may be
 * executed before it has left. */
void serve_remote_wait_gets(struct serve_domain *d, int node);

/* As data_update_wait; `u->to` is an address at the target. */
int serve_remote_update(const struct served_target *t, const struct data_update *u);

/* The same for at most REMOTE_SMALL contiguous bytes, at least 1: remote_small.c. False: not in this window. The update has
 * no `old`. */
bool serve_remote_small_copy(const struct served_target *t, enum remote_direction direction, void *here,
                             uint64_t there, uint64_t bytes);
bool serve_remote_small_update(const struct served_target *t, const struct data_update *u);

/* Locks the target with the operations that follow, in one message. False: as above. */
bool serve_remote_small_lock(const struct served_target *t, bool exclusive);
/* If a lock was deferred in this way, requests it now, and waits for it. */
void serve_remote_small_settle(void);
/* Unlocks the target, after all operations before; the caller then flushes. False: as above. */
bool serve_remote_small_unlock(const struct served_target *t, bool exclusive);

/* The program flushes its operations on this node; call with the guard held. */
void serve_remote_small_flush(struct serve_domain *d, int node);

/* False: out of memory. */
bool serve_remote_small_open(struct serve_domain *d);

/* Waits for the data of short gets from this node; call with the guard held. */
void serve_remote_small_wait(struct serve_domain *d, int node);
void serve_remote_small_close(struct serve_domain *d);

/* Sends the short operations that were held back. Call with the guard held, before any other operation on this node, and
 * before a wait. */
void serve_remote_small_send(struct serve_domain *d, int node);

/* ---- remote_direct.c: without the helper ---- */

/* Exposes the memory of an allocated window, if the network supports it. Collective; fails everywhere or nowhere. */
int serve_remote_direct_open(struct served *s, const struct net_boot *boot);
void serve_remote_direct_close(struct served *s);

/* Copies contiguous bytes, at least 1; s->direct is set. The buffer of a put, too, belongs to the network until
 * serve_remote_wait returns. False: not at this target. */
bool serve_remote_direct_copy(const struct served_target *t, enum remote_direction direction, void *here,
                              uint64_t there, uint64_t bytes);

/* The helper's side: a part of the key of this node. False: there is no such part. */
bool serve_remote_direct_key(const struct served *s, size_t offset, void *to, size_t bytes);

/* Waits until the buffers of all direct operations on this node may be reused; call with the guard held. */
void serve_remote_direct_wait(struct serve_domain *d, int node);
void serve_remote_direct_free(struct serve_domain *d);

/* Starts an operation, after all before it; call with the guard held. */
static inline void serve_remote_start(struct serve_domain *d, int node, struct net_op *op) {
    if (d->open_batch[node])
        serve_remote_small_send(d, node);
    net_start(d->net, node, op);
}

/* As data_swap_if. */
int serve_remote_swap_if(const struct served_target *t, enum data_type type, uint64_t element,
                         const void *expected, const void *desired, void *old);

/* Waits until the operations on this target, or on all targets of the window, are complete there. */
void serve_remote_flush(const struct served_target *t);
void serve_remote_flush_all(const struct served *s);

/* ---- remote_lock.c: the origin's locks ---- */

/* `defers`: the lock may be requested later, with the first operations or the unlock. */
void serve_remote_lock(const struct served_target *t, bool exclusive, bool defers);
/* Waits for a lock, after a request that was refused because it would have had to wait. */
void serve_remote_lock_queue(const struct served_target *t, bool exclusive);
/* Returns when all operations on the target are complete there. */
void serve_remote_unlock(const struct served_target *t, bool exclusive);

/* All targets of one node, shared. */
void serve_remote_lock_node(struct served *s, int node);
/* The operations on the node must be complete, unless serve_remote_unlocks_in_order: then they need only be started, and
 * serve_remote_flush also waits for the unlock. */
void serve_remote_unlock_node(struct served *s, int node);
bool serve_remote_unlocks_in_order(void);

/* ---- remote_serve.c, remote_gate.c: the helper ---- */

struct net_service serve_remote_service(struct serve_domain *d);

/* ---- messages ---- */

enum remote_handler {
    RPC_GET = NET_HANDLER(NET_SERVICE_WINDOWS, 0),
    RPC_PUT,
    RPC_UPDATE,
    RPC_SWAP,
    RPC_STATUS,
    RPC_LOCK,
    RPC_UNLOCK,
    RPC_BATCH,
    RPC_KEY
};

/* The window, and the rank in it. REMOTE_ALL: all ranks of the helper's node. */
struct remote_head {
    uint64_t window;
    uint32_t target;
    uint8_t op, type; /* of an update; type also of a swap */
    bool exclusive;   /* of a lock */
    uint8_t unused;
    /* Bytes of the shape (data/shape_wire.h), in front of the payload, or if `shape_follows`, after this header. Addresses
     * are relative to the beginning of the target's memory. */
    uint32_t shape_bytes;
    uint32_t shape_follows;
};
#define REMOTE_ALL UINT32_MAX

struct remote_swap {
    struct remote_head head;
    uint64_t offset;
    char expected[8], desired[8];
};

/* A batch of short operations: entries, each followed by its data, which is padded to REMOTE_PAYLOAD. The answer consists of the
 * data of its gets, one after the other. The first entry may be a lock. The answer then begins with REMOTE_GRANT bytes: 1, or 0 if
 * the lock is not free. In this case no entry was executed. */
struct remote_batch_head {
    uint32_t count;
};

struct remote_small {
    uint64_t window, offset; /* from the beginning of the target's memory */
    uint32_t target;
    uint16_t bytes;
    uint8_t handler;  /* RPC_GET, RPC_PUT, RPC_UPDATE, RPC_LOCK, RPC_UNLOCK */
    uint8_t op, type; /* of an update; op of a lock and an unlock: whether it is exclusive */
    uint8_t unused[7];
};
_Static_assert(sizeof(struct remote_small) % 16 == 0, "data after an entry is aligned");

enum {
    REMOTE_GRANT = 8,
    REMOTE_BATCH = 8192, /* most bytes of a batch, and of its answer */
    REMOTE_SMALL = 512,  /* most bytes of an operation in a batch */
    REMOTE_SMALL_ROOM = REMOTE_SMALL + (int)sizeof(struct remote_small), /* least for one */
    REMOTE_LIST = 1024,  /* most blocks of a list in one message */
    REMOTE_PAYLOAD = 16, /* alignment of the data after a shape in the payload */
    REMOTE_HEADER_SHAPE = NET_HEADER - sizeof(struct remote_head)
};
_Static_assert((int)REMOTE_HEADER_SHAPE >= (int)DATA_SHAPE_WIRE, "a regular shape fits into the header");

/* Before a domain of the helper is told: the leader's gates (remote_gate.c). */
enum remote_local { LOCAL_GATE_CHANGED = NET_LOCAL(NET_SERVICE_WINDOWS, 0) };

/* The helper's side of locks. */
struct serve_waiter;
void serve_remote_gate_lock(struct serve_domain *d, struct served *s, const struct remote_head *h,
                            uint64_t reply);
void serve_remote_gate_unlock(struct serve_domain *d, struct served *s, const struct remote_head *h);
void serve_remote_gate_check(struct serve_domain *d);
/* Locks without waiting. False: the lock is not free. */
bool serve_remote_gate_enter(const struct served_target *t, bool exclusive);

/* Tells the gates how to wake the helper. Called when a domain is opened. */
void serve_remote_gate_open(void);

#endif
