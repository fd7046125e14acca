/* rpc_engine.h: the network state of a process: one client side, and in the leader of a node its helpers.
 *
 *      client thread                                       helper's thread, in the leader of the other node
 *      call.c          operations, cut into blocks         helper.c        sleeps, wakes, polls all sources
 *      call_wait.c     waits and fences                    rpc_serve.c     delivers blocks, calls handlers, answers
 *      flow_client.c   credits for the next block          flow_helper.c   order of the blocks, grants
 *      link/           main port                 <---->    link/           helper's port
 *
 * In a leader, which has both sides, they share no mutable state except the mailbox, the helper's counters (tally.h) and
 * whose turn it is to serve (drive.h). */
#ifndef HEARTH_NET_RPC_ENGINE_H
#define HEARTH_NET_RPC_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "net/rpc/arena.h"
#include "net/rpc/affinity.h"
#include "net/rpc/drive.h"
#include "net/rpc/spin.h"
#include "net/rpc/wire.h"

/* ---- client side ---- */

/* A block being sent. */
struct out {
    struct link_send send;
    struct net *net;
    struct net_op *op; /* the operation of the block; NULL: a note or a mere size hint */
    struct out *next;  /* next free one */
    _Alignas(8) char header[LINK_HEADER];
    char *buffer; /* as large as the largest block */
};

/* A helper of another node. */
struct net_target {
    struct link_peer *peer;
    struct flow_client flow;
    struct net_op *first, *last; /* operations with blocks left to send */
    uint64_t heard;              /* clock_ns of its last message */
    struct net_target *next;     /* in the list `sending` of struct net */
    unsigned direct, gets;       /* direct operations in flight; how many of them are gets */
    bool unflushed, flushing;    /* direct puts were issued since the last flush; a flush is in flight */
    bool announced;              /* a size hint was sent for the operation that waits for the flush */
    struct link_send flush;
    bool listed; /* in the list `sending` */
    int rank;    /* of the process in which it runs */
};

enum { OUTS = 16, OPS = 1024 /* most operations that wait for answers at a time */ };

struct net {
    struct net_world *world;
    struct net_service services[NET_SERVICES];
    _Atomic bool offered[NET_SERVICES];
    struct flow_limits limits;
    struct link *link; /* NULL: there is only one node */
    struct link_port *port;
    bool direct; /* direct operations are in use, in all processes */
    int helpers; /* per node */
    uint64_t timeout_ns, spin_ns, helper_spin_ns;
    struct spin spin; /* of the client side */
    struct driver driver;
    bool sliced; /* the client thread has short scheduler slices */

    struct net_target **targets; /* [nodes * helpers], created at first use */
    struct out outs[OUTS];
    struct out *free_outs;
    struct memory out_memory;
    struct net_target *sending; /* targets with operations to send, or with a grant to use or return */
    struct net_op *ops[OPS];    /* operations that wait for answers, by id */
    uint32_t free_ops[OPS], ops_free;
    uint64_t blocks, bytes;

    /* Shared within the node. */
    /* [nodes * helpers] entries of address_bytes each; the first two bytes hold the length */
    const char *addresses;
    size_t address_bytes;
    struct mailbox *mailbox, *helper_box; /* the view of this process, and that of its helper */
    struct net_lock_table *lock_table;
    struct affinity_masks *masks; /* the cores on which the node's processes may run */

    struct helper *served; /* [helpers] in the leader, else NULL */
};

/* State of a wait for one target. */
struct patience {
    uint64_t idle_since;  /* 0: there was progress */
    uint64_t begun, last; /* start of the timeout, and last idle round; 0: none yet */
    bool spins;           /* since idle_since */
    uint64_t bytes;       /* that the awaited answer had left at the beginning of the wait */
};

static inline bool net_engine_offers(const struct net *n, unsigned service) {
    return atomic_load_explicit(&n->offered[service], memory_order_acquire);
}

/* A process is unreachable: tells all services. */
void net_tell_failure(struct net *n, int rank, const char *why);

/* Never NULL: an unreachable helper ends the job. */
struct net_target *net_target_of(struct net *n, int node, int helper);
/* One round of a wait: makes progress, or sleeps if there was none for a while. */
void net_target_wait(struct net *n, struct net_target *t, struct patience *p, bool forever);
/* Starts the remote completion of direct puts. */
void net_target_flush(struct net *n, struct net_target *t);
/* Waits until the helper has executed everything sent to it. */
void net_target_drain(struct net *n, struct net_target *t);

/* Opens the client side, without a port yet. The port delivers arriving messages to net_call_arrived. */
int net_call_open(struct net *n);
void net_call_close(struct net *n);
void net_call_arrived(void *net, struct link_peer *from, const void *header, size_t header_bytes,
                      const void *payload, size_t bytes);
void net_call_failed(void *net, struct link_peer *peer, const char *why);
/* Receives, and sends as many blocks as possible. Returns the number of events. */
int net_call_progress(struct net *n);

/* ---- serving side ---- */

/* A delivered block, or an answer being sent. */
struct rpc_slot {
    struct link_send send;
    struct server *server;
    uint32_t client;
    bool leaving;      /* its answer is being sent */
    uint64_t resume;   /* progress of the handler */
    uint64_t streamed; /* bytes of a streamed answer that were sent */
    uint32_t piece;    /* index of the pool buffer that it fills */
    uint32_t bytes;    /* of the payload */
    uint32_t header_bytes;
    _Alignas(16) char header[LINK_HEADER];
    struct wire_reply reply;
};

/* A client from which a message has arrived. */
struct server_client {
    struct link_peer *peer;
    struct server *server;
    uint32_t rank;

    struct link_send ack_send;
    struct wire_reply ack; /* an acknowledgement sent without an answer */
    bool ack_leaving, ack_due;
    struct flow_ack ack_next;

    /* Answers by net_reply. Most clients wait for one at a time, but the local completion of one may be reported only
     * after the client has asked for the next. */
    struct late {
        struct link_send send;
        struct wire_reply reply;
        char data[WIRE_REPLY_BYTES];
        size_t bytes;
        bool leaving;
    } late[4];
};

#define NO_BLOCK UINT64_MAX

struct server {
    struct net *net;
    int index; /* of the helper */
    struct link_port *port;
    struct flow_helper *flow;
    struct arena arena;
    struct server_client **clients; /* [size] by rank; NULL: no message has arrived from it */
    unsigned leaving;               /* answers being sent */
    uint64_t served, served_bytes, computed, retried;
    uint64_t pieces;      /* of streamed answers */
    uint64_t at_work;     /* the block whose handler runs, as net_reply names it; NO_BLOCK: none */
    struct late *at_once; /* the reply to it, which waits for its acknowledgement; or NULL */
};

/* Bytes of the header in front of each buffer; and bytes of state per active client, apart from its buffers. */
static inline size_t net_server_header(void) {
    return round_up(sizeof(struct rpc_slot), CACHE_LINE);
}
static inline size_t net_server_record(const struct flow_limits *limits) {
    enum { MALLOC = 16 /* allocator overhead in bytes, at most */ };
    return sizeof(struct server_client) + net_flow_record(limits) + 2 * (sizeof(void *) + MALLOC);
}

int net_server_open(struct server *s, struct net *n, int index);
void net_server_close(struct server *s);

/* Executes blocks that are ready and returns how many. *blocked: clients whose block has to be retried. */
unsigned net_server_work(struct server *s, unsigned *blocked);

/* ---- the thread ---- */

struct helper {
    struct server server; /* without a port if there is only one node */
    struct net *net;
    int index;
    pthread_t thread;
    bool running;
    int doorbell; /* eventfd that wakes it, to rest or to stop */
    _Atomic bool stop;
    struct turn turn;
    struct spin spin;
    uint64_t spun_bytes; /* served_bytes at the last spin */
    unsigned empty;      /* consecutive wakes without any work */
    uint64_t wakes, local, started_ns;
    _Atomic uint64_t busy_ns; /* CPU time; set when the thread ends */
    struct affinity affinity;
};

/* One round; returns how many events it handled. Requires the turn. *blocked: as of net_server_work. */
unsigned net_helper_round(struct helper *h, unsigned *blocked);

int net_helper_open(struct helper *h, struct net *n, int index);
int net_helper_start(struct helper *h);
void net_helper_wake(struct helper *h);
void net_helper_stop(struct helper *h);
void net_helper_close(struct helper *h);

#endif
