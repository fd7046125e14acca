/* network.h: a model of a network: nodes with one NIC each, any of which can reach any other.
 *
 *      sender's NIC                   wire             receiver's NIC
 *      one message after another  ->  latency  ->      one message after another
 *      bytes / bandwidth                               bytes / bandwidth, from the arrival of its header on
 *
 * A message without contention takes latency + bytes / bandwidth: the two NICs work on it at the same time.
 * Links between the NICs are never congested, and nothing is lost. Messages of at most `slip` bytes are
 * interleaved with the packets of longer ones: they take their share of a NIC's time, but do not wait. A node's
 * messages to itself take a copy in memory.
 *
 * Sending has two steps, because the order at the receiver is known only when the headers arrive:
 *
 *      head = network_send(...);                        then, at this time:
 *      tail = network_receive(..., head, ...);          at this time the message is delivered */
#ifndef HEARTH_SIM_NETWORK_H
#define HEARTH_SIM_NETWORK_H

#include <stdint.h>

struct network {
    double latency_ns, ns_per_byte, copy_latency_ns, copy_ns_per_byte;
    uint64_t slip;
    uint32_t nodes;
    uint64_t *out, *in; /* by node: end of its NIC's reserved time */
    uint64_t messages, bytes;
};

/* Bandwidths in bytes/s; copy_* are those of a node's memory. */
void network_open(struct network *n, uint32_t nodes, double latency_us, double bandwidth,
                  double copy_bandwidth);
void network_close(struct network *n);

/* Returns the time at which its header arrives at the receiver's NIC. */
uint64_t network_send(struct network *n, uint64_t now, uint32_t from, uint32_t to, uint64_t bytes);
/* Returns the time at which all of it is in the receiver's memory; now is the result of network_send. */
uint64_t network_receive(struct network *n, uint64_t now, uint32_t from, uint32_t to, uint64_t bytes);

#endif
