/* flow.h: one helper thread and its clients, simulated; internal to sim_flow.
 *
 * A client executes one operation after another: an accumulate, whose bytes are packed into blocks and sent,
 * and which completes when all of it is acknowledged; or a get, which completes when its answer arrives. The
 * helper receives blocks, executes them one at a time and acknowledges them. The *scheme* decides which client
 * may send what, and when:
 *
 *      credits      the real src/net/rpc/flow.h: own buffers for each client, no credit pool
 *      intimation   the same, with pool buffers that are granted to operations with a size hint
 *      allocate     request-allocate, as in the paper: a request, memory or not, an answer, the data
 *      release      request-release: a request waits for a buffer of a pool; at the end a release
 *
 * Everything is charged: a message takes time in two NICs (network.h), packing a block takes the client's time,
 * executing one takes the helper's, and the first block after idling takes the helper's wakeup. */
#ifndef HEARTH_SIM_FLOW_H
#define HEARTH_SIM_FLOW_H

#include "events.h"
#include "network.h"

#include "base/random.h"
#include "net/rpc/flow.h"

struct costs {                       /* ns */
    double block, pack_per_byte;     /* a client, per block */
    double serve, do_per_byte;       /* the helper, per message */
    double wake;                     /* the helper, after idling */
    double allocate, fault_per_byte; /* malloc, and the pages touched for the first time */
    double retry;                    /* a refused client, at first; doubles up to 64 times */
};

enum parcel_kind {
    PARCEL_BLOCK,
    PARCEL_NOTE,
    PARCEL_ACK,
    PARCEL_REQUEST,
    PARCEL_ANSWER,
    PARCEL_DATA,
    PARCEL_RELEASE
};

/* A message and its meaning. */
struct parcel {
    enum parcel_kind kind;
    uint32_t client, next_free;
    uint64_t payload; /* bytes of data */
    struct flow_ticket ticket;
    struct flow_ack ack;
    bool yes;        /* ANSWER: a buffer is granted */
    uint64_t wanted; /* REQUEST, and BLOCK of a get: bytes */
};

struct client {
    struct flow_client flow;
    uint64_t bytes; /* of each of its operations */
    uint64_t left;  /* bytes still to be sent, or to be requested */
    uint64_t unacknowledged;
    uint32_t operations; /* not started yet */
    uint64_t pause;      /* ns between them, on average; 0: none */
    uint64_t began, finished, longest, in_all;
    uint64_t served; /* bytes, by the helper */
    uint32_t done;
    uint32_t refused; /* in a row */
    bool packing, asking, granted, has_spoken;
};

struct world;
struct flow_result;

struct scheme {
    const char *name;
    void (*open)(struct world *w);
    void (*close)(struct world *w);
    /* The client is idle and sends what it may. True: it has started to pack, and world_packed follows. */
    bool (*go)(struct world *w, uint32_t client);
    void (*client_hears)(struct world *w, const struct parcel *p);
    void (*helper_hears)(struct world *w, uint32_t parcel);
    /* Chooses the helper's next work and its duration; false: there is none. world->work belongs to the scheme. */
    bool (*next)(struct world *w, double *ns);
    void (*did)(struct world *w);
    /* The argument of call_when_left; NULL: the scheme does not use it. */
    void (*left)(struct world *w, uint64_t what);
    /* Memory that is permanently reserved at the helper, and the maximum used beside it. */
    void (*memory)(const struct world *w, uint64_t *fixed, uint64_t *most);
    /* At the end: the scheme's own counts, and a check that all its resources are free again. */
    void (*count)(const struct world *w, struct flow_result *r);
};

extern const struct scheme flow_credits, flow_intimation, flow_allocate, flow_release_;

struct setup {
    uint32_t clients, ranks_per_node;
    struct flow_limits limits;
    uint64_t budget;     /* limit of the helper's buffers, in bytes */
    uint64_t pool_bytes; /* of a buffer of request-release */
    bool gets;
    struct costs costs;
    double latency_us, bandwidth;
    uint64_t seed;
};

struct world {
    struct setup setup;
    const struct scheme *scheme;
    struct events events;
    struct network network;
    struct random random;
    struct client *clients;
    struct parcel *parcels;
    uint32_t parcel_count, parcel_room, free_parcel;
    bool working, asleep;
    uint64_t helper_busy;         /* ns of work */
    uint64_t begun, over, wanted; /* operations */
    uint64_t bytes_done, bytes_in_all;
    double half_fairness; /* when half of all bytes were served */
    void *state;          /* owned by the scheme */
};

uint32_t parcel_new(struct world *w, enum parcel_kind kind, uint32_t client);
void parcel_end(struct world *w, uint32_t parcel);
/* Sends to the helper or the client, depending on its kind. */
void parcel_send(struct world *w, uint32_t parcel);
/* The client packs this many bytes into a parcel, which is then sent. */
void pack(struct world *w, uint32_t parcel, uint64_t bytes);
/* Calls the scheme when all that the helper has sent so far has left its NIC. */
void call_when_left(struct world *w, uint64_t what);
void client_go(struct world *w, uint32_t client);
/* The helper has executed this many bytes of a client. */
void count_served(struct world *w, uint32_t client, uint64_t bytes);
/* The client learns that this many bytes of its operation are done; it starts the next operation if all are. */
void acknowledge_bytes(struct world *w, uint32_t client, uint64_t bytes);
void retry_later(struct world *w, uint32_t client, double ns);
double serve_time(const struct world *w, uint64_t bytes);
/* Bytes before a payload, and of a message without one. */
enum { HEADER = 64 };

struct flow_result {
    double seconds, bandwidth, fairness, half_fairness, mean_us, longest_us, small_longest_us, busy, waits;
    uint64_t messages, operations, fixed, most, granted, refused, retries, acks;
};

void world_open(struct world *w, const struct setup *setup, const struct scheme *scheme);
/* The workload of a client; before world_run. */
void world_plan(struct world *w, uint32_t client, uint32_t operations, uint64_t bytes, uint64_t pause);
void world_run(struct world *w, const char *name, struct flow_result *r);
void world_close(struct world *w);

#endif
