/* flow.h: one helper thread and its clients, simulated; inside sim_flow.
 *
 * A client does one operation after another: an accumulate whose bytes are packed into blocks and sent, and
 * which is over when all of it is acknowledged; or a get, which is over when its answer is here. The helper
 * takes blocks in, does them one at a time and acknowledges. Who may send what, and when, is the *scheme's*:
 *
 *      credits      the real src/net/flow.c: own buffers for each client, no spares
 *      intimation   the same, with spare buffers that are lent to those who announce what follows
 *      allocate     request-allocate, as in the paper: a request, memory or not, an answer, the data
 *      release      request-release: a request waits for a buffer of a pool; in the end a release
 *
 * Everything is charged: a message takes its time in two NICs (network.h), packing a block the client's time,
 * doing one the helper's, and the first after a rest its waking up. */
#ifndef HEARTH_SIM_FLOW_H
#define HEARTH_SIM_FLOW_H

#include "events.h"
#include "network.h"

#include "base/random.h"
#include "net/flow.h"

struct costs {                       /* ns */
    double block, pack_per_byte;     /* a client, for a block of its own */
    double serve, do_per_byte;       /* the helper, for a message */
    double wake;                     /* the helper, after a rest */
    double allocate, fault_per_byte; /* malloc, and the pages it touches for the first time */
    double retry;                    /* a client that was refused, at first; doubles up to 64 times */
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

/* A message, and what it stands for. */
struct parcel {
    enum parcel_kind kind;
    uint32_t client, next_free;
    uint64_t payload; /* bytes of data in it */
    struct flow_ticket ticket;
    struct flow_ack ack;
    bool yes;        /* ANSWER: there is a buffer */
    uint64_t wanted; /* REQUEST, and BLOCK of a get: bytes */
};

struct client {
    struct flow_client flow;
    uint64_t bytes; /* of each of its operations */
    uint64_t left;  /* to be sent, or to be asked for */
    uint64_t unacknowledged;
    uint32_t operations; /* still to be begun */
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
    /* The client is free: sends what it may. True: it has begun to pack, and world_packed comes. */
    bool (*go)(struct world *w, uint32_t client);
    void (*client_hears)(struct world *w, const struct parcel *p);
    void (*helper_hears)(struct world *w, uint32_t parcel);
    /* What the helper does next: how long it takes; false: nothing. world->work is the scheme's. */
    bool (*next)(struct world *w, double *ns);
    void (*did)(struct world *w);
    /* What call_when_left was told; NULL: it never is. */
    void (*left)(struct world *w, uint64_t what);
    /* What is reserved at the helper for good, and what was taken at most beside it. */
    void (*memory)(const struct world *w, uint64_t *fixed, uint64_t *most);
    /* At the end: its own counts, and whether everything is back where it was. */
    void (*count)(const struct world *w, struct flow_result *r);
};

extern const struct scheme flow_credits, flow_intimation, flow_allocate, flow_release_;

struct setup {
    uint32_t clients, ranks_per_node;
    struct flow_limits limits;
    uint64_t budget;     /* bytes that the helper's buffers may take */
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
    uint64_t helper_busy;         /* ns at work */
    uint64_t begun, over, wanted; /* operations */
    uint64_t bytes_done, bytes_in_all;
    double half_fairness; /* when half of all bytes were done */
    void *state;          /* the scheme's */
};

uint32_t parcel_new(struct world *w, enum parcel_kind kind, uint32_t client);
void parcel_end(struct world *w, uint32_t parcel);
/* To the helper or the client, as its kind says. */
void parcel_send(struct world *w, uint32_t parcel);
/* The client packs so many bytes into a parcel, which then leaves. */
void pack(struct world *w, uint32_t parcel, uint64_t bytes);
/* When all that the helper has sent so far has left its NIC. */
void call_when_left(struct world *w, uint64_t what);
void client_go(struct world *w, uint32_t client);
/* The helper has done so many bytes of a client's. */
void count_served(struct world *w, uint32_t client, uint64_t bytes);
/* The client hears that so many bytes of its operation are done; begins the next if all are. */
void acknowledge_bytes(struct world *w, uint32_t client, uint64_t bytes);
void retry_later(struct world *w, uint32_t client, double ns);
double serve_time(const struct world *w, uint64_t bytes);
/* Bytes in front of a payload, and of a message without one. */
enum { HEADER = 64 };

struct flow_result {
    double seconds, bandwidth, fairness, half_fairness, mean_us, longest_us, small_longest_us, busy, waits;
    uint64_t messages, operations, fixed, most, granted, refused, retries, acks;
};

void world_open(struct world *w, const struct setup *setup, const struct scheme *scheme);
/* What a client is to do; before world_run. */
void world_plan(struct world *w, uint32_t client, uint32_t operations, uint64_t bytes, uint64_t pause);
void world_run(struct world *w, const char *name, struct flow_result *r);
void world_close(struct world *w);

#endif
