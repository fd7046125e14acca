/* link.h: messages between nodes, over UCX or over MPI. The network over UCX lies in a library that is loaded when it is first
 * opened; the one over MPI belongs to the library above that knows MPI, which offers it (net/mpi/boot_mpi.h).
 *
 * A process has one link with several ports, each used by one thread: the main port of the client side and, in the
 * leader of a node, the ports of its helpers. A message is a header and a payload, both short enough to be sent in
 * one piece. The credits that limit the messages in flight belong to the layer above (flow.h). A message arrives whole.
 * The order of messages from one port to another is not guaranteed; callers that need it number their messages.
 *
 * No call blocks. Errors of a peer are reported through `failed`, once per peer. */
#ifndef HEARTH_NET_LINK_H
#define HEARTH_NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/boot/boot.h"

enum { LINK_HEADER = 256, LINK_ADDRESS = 512, LINK_KEY = 512 };

struct link;      /* one per process */
struct link_port; /* one per thread */
struct link_peer; /* another port, as seen from one of ours */

enum link_kind { LINK_UCX, LINK_MPI };

struct link_options {
    enum link_kind kind;
    size_t most; /* bytes of the largest payload */
    int ports;   /* opened by this process: 1, plus one for each helper in it */
    /* MPI_Comm * of all processes. Only LINK_MPI uses it, to derive its own communicators. */
    const void *comm;
    bool direct; /* whether memory will be exposed */
    /* Payloads of at least so many bytes are received in place (link_events.place), if the network can do it; 0: none.
     * They may be longer than `most` then: see net_link_in_place. Must be the same in all processes. */
    size_t in_place;
    /* The content of the messages tells who sends them: link_events.arrived may be called without a peer, and short messages take less
     * time. Not together with in_place. */
    bool anonymous;
};

struct link_events {
    void *arg;

    /* A message arrived; from is NULL if the link is anonymous. The header (aligned to 8) and the payload (any alignment: it lies in the network's buffer)
     * are valid during the call. The callback may send messages, but must not make progress. `from` stays valid
     * until the port is closed. */
    void (*arrived)(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                    const void *payload, size_t bytes);

    /* A message with a large payload (link_options.in_place) is announced. Returns the address of memory that its payload
     * is received into; `arrived` follows when it is complete, with that address as its payload. The memory belongs to
     * the network until then, or until the port is closed. NULL: the message is refused, and the peer counts as failed.
     * Never called if in_place is 0. */
    void *(*place)(void *arg, struct link_peer *from, const void *header, size_t header_bytes, size_t bytes);

    /* The peer is unreachable from now on, or a message from it was lost. `why` is the cause, for error messages. peer
     * NULL: unknown which one. */
    void (*failed)(void *arg, struct link_peer *peer, const char *why);
};

/* A message in flight. The header, the payload and this structure must stay in place and unchanged until `sent` is
 * called, from net_link_progress or while the port is closed. */
struct link_send {
    void (*sent)(struct link_send *s, int status); /* 0, or negative: the peer has failed */
    struct link_port *port;                        /* private to the link */
};

/* Offers the network over MPI. Of several offers the first one counts. */
struct link_network;
void net_link_offer_mpi(const struct link_network *network);

/* Collective for LINK_MPI, which creates communicators. Returns 0, or a negative code after logging an error:
 * -ENOTSUP if this build or this MPI cannot do it (such as LINK_MPI without MPI_THREAD_MULTIPLE), -ENOMEM, -EMFILE
 * ... */
int net_link_open(const struct link_options *options, struct link **link);
void net_link_close(struct link *link);

/* Whether large payloads are received in place. Otherwise they arrive like others, and are not longer than `most`. */
bool net_link_in_place(const struct link *link);

/* Port 0 is the main port; port 1 + h belongs to helper h. */
int net_link_port_open(struct link *link, int port, const struct link_events *events, struct link_port **p);

/* Closing takes three steps, with a barrier of all processes between them. `quiesce` completes all sends: the caller
 * sends nothing any more. It is called first for all main ports, while the helpers still make progress, and then for the
 * helpers' ports. From then on failed peers are not reported, as they may just be ahead in closing; messages may still
 * arrive. `shut` closes the connections, `close` frees the rest. All are bounded in time. A peer that closes alone
 * counts as failed for the others. */
void net_link_port_quiesce(struct link_port *p);
void net_link_port_shut(struct link_port *p);
void net_link_port_close(struct link_port *p);

/* The address with which others connect to this port: at most LINK_ADDRESS bytes. Returns its length, or a negative
 * code. */
int net_link_port_address(struct link_port *p, void *into);

/* A peer, by its address: the same one that messages from that port name as `from`. `rank` and `port` are used by LINK_MPI
 * and in messages. Cheap: the connection is made at first use. */
int net_link_connect(struct link_port *p, const void *address, size_t bytes, int rank, int port,
                     struct link_peer **peer);

/* Returns 0: sent or copied, header and payload may be reused. 1: in flight, see struct link_send. Negative: nothing was
 * sent, and the next net_link_progress calls `failed` for this peer, unless it has been called already. */
int net_link_send(struct link_port *p, struct link_peer *peer, const void *header, size_t header_bytes,
                  const void *payload, size_t bytes, struct link_send *s);

/* Receives and completes as much as possible. Returns the number of events; 0: none. */
int net_link_progress(struct link_port *p);

/* To sleep in poll: call net_link_arm. -EAGAIN: something has arrived, make progress first. 0: poll net_link_descriptor
 * for at most net_link_nap microseconds, and make progress when it is readable. The limit (UINT64_MAX: none) exists
 * because with LINK_MPI a message may arrive without making the descriptor readable. While a connection is being set up,
 * the descriptor may be readable with nothing to do. After some such wakeups, sleep a little: the other end may need
 * the core. */
int net_link_arm(struct link_port *p);
int net_link_descriptor(const struct link_port *p);
uint64_t net_link_nap(const struct link_port *p);

/* ---- one-sided access to remote memory; LINK_UCX only ---- */

/* Whether a device accesses remote memory in hardware (RDMA). */
bool net_link_is_direct(const struct link *link);

/* Exposes memory of this process. *key, at most LINK_KEY bytes, is the handle for others. Returns its length, or a
 * negative code. */
struct link_memory;
int net_link_expose(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key);
void net_link_hide(struct link *link, struct link_memory *memory);

/* Exposed memory of another process, accessed through a peer (a helper's port of the process that exposed it). */
struct link_window;
int net_link_window_open(struct link_peer *peer, const void *key, struct link_window **window);
void net_link_window_close(struct link_window *window);

/* `to` of a put and `from` of a get are addresses in the process that exposed the memory. Return values as of
 * net_link_send; `sent` means that the local memory may be reused (put) or is filled (get). A put is complete at the
 * target after a net_link_flush has completed. */
int net_link_put(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
                 struct link_send *s);
int net_link_get(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
                 struct link_send *s);
int net_link_flush(struct link_port *p, struct link_peer *peer, struct link_send *s);

#endif
