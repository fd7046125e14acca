/* flow_help.h: a few clients and their helper for tests, and one-line operations on them. Messages are function calls
 * here. */
#ifndef HEARTH_TEST_FLOW_HELP_H
#define HEARTH_TEST_FLOW_HELP_H

#include <errno.h>

#include "net/rpc/flow.h"

enum { S = 64, POOLED = 256, CLIENTS = 4 };

static struct flow_limits limits;
static uint32_t first_number;
static struct flow_client clients[CLIENTS];
static struct flow_helper *helper;
static struct flow_ticket ticket; /* of the last block taken */
static struct flow_place place;   /* of its buffer */
static struct flow_turn turn;
static struct flow_ack ack;
static size_t room;

static inline void open_all(uint32_t buffers, uint32_t pool_buffers) {
    limits = (struct flow_limits){.buffers = buffers,
                                  .bytes = S,
                                  .pool_buffers = pool_buffers,
                                  .pool_buffer_bytes = POOLED,
                                  .size_hint = true,
                                  .first = first_number};
    helper = NULL;
    expect_eq(net_flow_helper_open(&limits, CLIENTS, &helper), 0);
    for (int i = 0; i < CLIENTS; i++)
        expect_eq(net_flow_client_open(&clients[i], &limits), 0);
}

static inline void check_all(void) {
    net_flow_helper_check(helper);
    for (int i = 0; i < CLIENTS; i++)
        net_flow_client_check(&clients[i]);
}

static inline void close_all(void) {
    check_all();
    for (int i = 0; i < CLIENTS; i++)
        net_flow_client_close(&clients[i]);
    net_flow_helper_close(helper);
    first_number = 0;
}

static inline bool take(int client, bool fetch, uint64_t left) {
    return net_flow_take(&clients[client], fetch, left, &ticket, &room);
}

static inline int arrive(int client) {
    return net_flow_arrive(helper, (uint32_t)client, &ticket, &place);
}

/* Takes a buffer and delivers the block at once. */
static inline void put(int client, bool fetch, uint64_t left) {
    expect(take(client, fetch, left));
    expect_eq(arrive(client), 0);
    check_all();
}

/* Serves the next block, which must be this client's. Returns whether it is acknowledged. */
static inline bool serve(int client, bool reply) {
    bool is_there = net_flow_turn(helper, &turn);
    expect(is_there);
    expect_eq(turn.client, client);
    if (!is_there)
        return false;
    ack = (struct flow_ack){.granted = 12345};
    bool says = net_flow_done(helper, turn.client, reply, &ack);
    check_all();
    return says;
}

static inline void hear(int client) {
    expect_eq(net_flow_acknowledge(&clients[client], &ack), 0);
    check_all();
}

static inline void serve_and_hear(int client) {
    expect(serve(client, false));
    hear(client);
}

static inline bool has_turn(void) {
    struct flow_turn t;
    return net_flow_turn(helper, &t);
}

static inline uint64_t bits(unsigned count) {
    return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* Grants a client this many pool buffers: it asks for them with a block of its own, which is served. */
static inline void give(int client, unsigned pool_buffers) {
    put(client, false, limits.buffers * S + (uint64_t)pool_buffers * POOLED);
    expect(serve(client, true)); /* with a reply, so that the grant is sent at once whatever B is */
    expect_eq(__builtin_popcountll(ack.granted), pool_buffers);
    hear(client);
}

#endif
