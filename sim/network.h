/* network.h: a model of a network, not a network: nodes with one NIC each, any of which can reach any other.
 *
 *      sender's NIC                   wire             receiver's NIC
 *      one message after another  ->  latency  ->      one message after another
 *      bytes / bandwidth                               bytes / bandwidth, begun when its head is here
 *
 * A message that meets nobody takes latency + bytes / bandwidth: the two NICs work on it at the same time.
 * Ways between the NICs are never full, and nothing is lost. Messages of at most `slip` bytes slip in between
 * the packets of longer ones: they take their share of a NIC's time, but wait for nobody. A node's messages
 * to itself take a copy in memory.
 *
 * Sending is in two steps, as who is first at the receiver is known only when the heads are there:
 *
 *      head = network_send(...);                        then, at this time:
 *      tail = network_receive(..., head, ...);          and at this one it is here. */
#ifndef HEARTH_SIM_NETWORK_H
#define HEARTH_SIM_NETWORK_H

#include <stdint.h>

struct network {
    double latency_ns, ns_per_byte, copy_latency_ns, copy_ns_per_byte;
    uint64_t slip;
    uint32_t nodes;
    uint64_t *out, *in; /* by node: until when its NIC is busy */
    uint64_t messages, bytes;
};

/* Bandwidths in bytes/s; the copy's are those of a node's memory. */
void network_open(struct network *n, uint32_t nodes, double latency_us, double bandwidth,
                  double copy_bandwidth);
void network_close(struct network *n);

/* When the head of it is at the receiver's NIC. */
uint64_t network_send(struct network *n, uint64_t now, uint32_t from, uint32_t to, uint64_t bytes);
/* When all of it is in the receiver's memory; now is what network_send said. */
uint64_t network_receive(struct network *n, uint64_t now, uint32_t from, uint32_t to, uint64_t bytes);

#endif
