/* engine.h: what a process has of the network: one asking side, and in the leader of a node its helpers.
 *
 *      asking thread                                helper's thread, in the leader of the other node
 *      call.c   operations, cut into blocks         helper.c   sleeps, wakes, goes round
 *      flow.c   may the next one be sent?           serve.c    lands blocks, calls handlers, answers
 *      link/    main port                 <---->    link/      helper's port
 *
 * The two sides share nothing but the counters of a process that has both. */
#ifndef HEARTH_NET_ENGINE_H
#define HEARTH_NET_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"
#include "net/arena.h"
#include "net/place.h"
#include "net/spin.h"
#include "net/wire.h"

/* ---- asking ---- */

/* A block on its way out. */
struct out {
    struct link_send send;
    struct net *net;
    struct net_op *op; /* whose memory is sent from; NULL: `buffer` is */
    struct out *next;  /* that is free */
    _Alignas(8) char header[LINK_HEADER];
    char *buffer; /* as long as the largest block */
};

/* A helper of another node. */
struct target {
    struct link_peer *peer;
    struct flow_client flow;
    struct net_op *first, *last; /* operations that still have blocks to send */
    uint64_t heard;              /* clock_ns of its last message */
    struct target *next;         /* of those that have such operations */
    unsigned direct, gets;       /* puts and gets around the helper, under way; of these, gets */
    bool unflushed, flushing;    /* direct puts since the last flush; it has been started */
    bool announced;              /* what will follow it */
    struct link_send flush;
    bool listed;
    int rank; /* in which it lives */
};

enum { OUTS = 16, OPS = 1024 /* most that wait for answers at a time */ };

struct net {
    struct net_world *world;
    struct net_service service;
    struct flow_limits limits;
    struct link *link; /* NULL: there is one node only */
    struct link_port *port;
    int helpers; /* per node */
    uint64_t timeout_ns, spin_ns, helper_spin_ns;
    struct spin spin; /* of the asking side */
    bool sliced;      /* the asking thread has short slices, or is not to have them */

    struct target **targets; /* [nodes * helpers], made at first use */
    struct out outs[OUTS];
    struct out *free_outs;
    struct memory out_memory;
    struct target *sending;  /* those that have operations to send */
    struct net_op *ops[OPS]; /* that wait for answers, by their names */
    uint32_t free_ops[OPS], ops_free;
    uint64_t blocks, bytes;

    /* Shared by the node. */
    const char *addresses; /* [nodes * helpers] of address_bytes each, the length in the first two */
    size_t address_bytes;
    struct mailbox *mailbox, *helper_box; /* as this process asks, and as its helper sees it */
    struct net_stripes *stripes;
    struct place_masks *masks; /* where its processes may run */

    struct helper *served; /* [helpers] in the leader, else NULL */
};

/* A wait for something of one target. */
struct patience {
    uint64_t idle_since;  /* 0: something happened */
    uint64_t begun, last; /* round */
    bool spins;           /* since then */
};

/* Never NULL: a helper that cannot be reached ends the job. */
struct target *target_of(struct net *n, int node, int helper);
/* One round of a wait: progress, or, if there was none for a while, sleep. */
void target_wait(struct net *n, struct target *t, struct patience *p, bool forever);
/* Starts to make direct puts complete. */
void target_flush(struct net *n, struct target *t);
/* Until the helper has done all that it was asked. */
void target_drain(struct net *n, struct target *t);

/* Makes the asking side ready, without a port yet; what came to the port is given to call_arrived. */
int call_open(struct net *n);
void call_close(struct net *n);
void call_arrived(void *net, struct link_peer *from, const void *header, size_t header_bytes,
                  const void *payload, size_t bytes);
void call_failed(void *net, struct link_peer *peer, const char *why);

/* ---- serving ---- */

/* A block that has landed, or an answer on its way out. */
struct slot {
    struct link_send send;
    struct server *server;
    uint32_t client;
    bool leaving;    /* its answer is being sent */
    uint64_t resume; /* how far the handler came */
    uint32_t piece;  /* and in which of the spares */
    uint32_t bytes;  /* of the payload */
    uint32_t header_bytes;
    _Alignas(16) char header[LINK_HEADER];
    struct wire_reply reply;
};

/* A client that has spoken. */
struct server_client {
    struct link_peer *peer;
    struct server *server;
    uint32_t rank;

    struct link_send ack_send;
    struct wire_reply ack; /* alone on its way */
    bool ack_leaving, ack_due;
    struct flow_ack ack_next;

    /* Answers by net_reply. A client waits for one at a time, but we may hear that one has left only after the client
     * has asked for the next. */
    struct late {
        struct link_send send;
        struct wire_reply reply;
        char data[WIRE_REPLY_BYTES];
        bool leaving;
    } late[4];
};

struct server {
    struct net *net;
    int index; /* of the helper */
    struct link_port *port;
    struct flow_helper *flow;
    struct arena arena;
    struct server_client **clients; /* [size] by rank; NULL: has not spoken */
    unsigned leaving;               /* answers on their way out */
    uint64_t served, served_bytes, computed, retried;
};

/* Bytes in front of each buffer; and what is kept of a client that has spoken, beside its buffers. */
static inline size_t server_head(void) {
    return round_up(sizeof(struct slot), CACHE_LINE);
}
static inline size_t server_record(const struct flow_limits *limits) {
    enum { MALLOC = 16 /* bytes beside what was asked for, at most */ };
    return sizeof(struct server_client) + flow_record(limits) + 2 * (sizeof(void *) + MALLOC);
}

int server_open(struct server *s, struct net *n, int index);
void server_close(struct server *s);

/* Does what is there to do: how many blocks. *blocked: how many clients wait for something to be tried again. */
unsigned server_work(struct server *s, unsigned *blocked);

/* ---- the thread ---- */

struct helper {
    struct server server; /* without a port if there is one node only */
    struct net *net;
    int index;
    pthread_t thread;
    bool running;
    int bell; /* eventfd, to stop it */
    _Atomic bool stop;
    struct spin spin;
    unsigned empty; /* wakes in a row after which there was nothing to do */
    uint64_t wakes, near, started_ns;
    _Atomic uint64_t busy_ns; /* CPU time; set when it ends */
    struct place place;
};

int helper_open(struct helper *h, struct net *n, int index);
int helper_start(struct helper *h);
void helper_stop(struct helper *h);
void helper_close(struct helper *h);

#endif
