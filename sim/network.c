/* network.c: the model of network.h. */
#include "network.h"

#include <stdlib.h>

#include "need.h"

void network_open(struct network *n, uint32_t nodes, double latency_us, double bandwidth,
                  double copy_bandwidth) {
    *n = (struct network){.latency_ns = 1e3 * latency_us,
                          .ns_per_byte = 1e9 / bandwidth,
                          .copy_latency_ns = 200, /* a queue in shared memory */
                          .copy_ns_per_byte = 1e9 / copy_bandwidth,
                          .nodes = nodes};
    n->out = need(calloc(nodes, sizeof *n->out));
    n->in = need(calloc(nodes, sizeof *n->in));
}

void network_close(struct network *n) {
    free(n->out);
    free(n->in);
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t work_of(const struct network *n, uint64_t bytes) {
    return (uint64_t)((double)bytes * n->ns_per_byte + 0.5);
}

/* Reserves time of the NIC; returns when the message starts. */
static uint64_t pass(const struct network *n, uint64_t *busy, uint64_t now, uint64_t bytes) {
    uint64_t begins = bytes <= n->slip ? now : later(now, *busy);
    *busy = later(now, *busy) + work_of(n, bytes);
    return begins;
}

uint64_t network_send(struct network *n, uint64_t now, uint32_t from, uint32_t to, uint64_t bytes) {
    n->messages++;
    n->bytes += bytes;
    if (from == to)
        return now + (uint64_t)(n->copy_latency_ns + (double)bytes * n->copy_ns_per_byte + 0.5);
    return pass(n, &n->out[from], now, bytes) + (uint64_t)n->latency_ns;
}

uint64_t network_receive(struct network *n, uint64_t now, uint32_t from, uint32_t to, uint64_t bytes) {
    if (from == to)
        return now;
    return pass(n, &n->in[to], now, bytes) + work_of(n, bytes);
}
