/* link.h: messages between nodes, over UCX or over MPI.
 *
 * A process has one link and on it ports, each used by one thread: the main port, which asks, and, in the
 * leader of a node, ports of helpers, which are asked and reply. A message is a header and a payload, both
 * short enough to travel in one piece; nothing is received that was not allowed for by credits, which are
 * not this layer's. Messages from one port to another arrive whole, mostly in order; who needs order
 * numbers them.
 *
 * No call waits. Errors that concern a peer come through `failed`, once per peer. */
#ifndef HEARTH_NET_LINK_H
#define HEARTH_NET_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/boot.h"

enum { LINK_HEADER = 256, LINK_ADDRESS = 512, LINK_KEY = 512 };

struct link;      /* of a process */
struct link_port; /* of a thread */
struct link_peer; /* another port, as seen from one of ours */

enum link_kind { LINK_UCX, LINK_MPI };

struct link_options {
    enum link_kind kind;
    size_t most; /* bytes of the largest payload */
    int ports;   /* that this process will open: 1, and one for each helper in it */
    const void
        *comm;   /* MPI_Comm * of all processes; only LINK_MPI uses it, and makes communicators of its own */
    bool direct; /* whether memory will be exposed */
};

struct link_events {
    void *arg;

    /* A message; header (aligned to 8) and payload (anywhere: it lies where the network put it) are valid
     * during the call, in which messages may be sent, but no progress made. `from` stays valid until the
     * port is closed. */
    void (*arrived)(void *arg, struct link_peer *from, const void *header, size_t header_bytes,
                    const void *payload, size_t bytes);

    /* That peer cannot be reached any more. `why` is text for people. */
    void (*failed)(void *arg, struct link_peer *peer, const char *why);
};

/* A message on its way: header and payload stay as they are, and this where it is, until `sent` is called,
 * from link_progress or while the port is closed. */
struct link_send {
    void (*sent)(struct link_send *s, int status); /* 0, or negative: the peer has failed */
    struct link_port *port;                        /* the link's own */
};

/* Collective for LINK_MPI (communicators are made). 0, or a negative code after a line: -ENOTSUP if this
 * build or this MPI cannot (as LINK_MPI without MPI_THREAD_MULTIPLE), -ENOMEM, -EMFILE ... */
int link_open(const struct link_options *options, struct link **link);
void link_close(struct link *link);

/* Port 0 is the main port; port 1 + h that of helper h. */
int link_port_open(struct link *link, int port, const struct link_events *events, struct link_port **p);

/* In three steps, with a barrier of all processes between them: `quiet` when nothing will be sent any
 * more, first for all main ports while the helpers still make progress, then for the helpers' (from now on
 * nothing is said of peers that fail, they may just be faster; messages may still arrive), `shut` gives up
 * the connections, `close` the rest. Bounded in time. A peer that closes without the others has failed for
 * these. */
void link_port_quiet(struct link_port *p);
void link_port_shut(struct link_port *p);
void link_port_close(struct link_port *p);

/* What others need to connect to this port: at most LINK_ADDRESS bytes. Its length, or a negative code. */
int link_port_address(struct link_port *p, void *into);

/* Another port, by its address; `rank` and `port` are used by LINK_MPI and in messages. Cheap; the
 * connection is made at first use. */
int link_connect(struct link_port *p, const void *address, size_t bytes, int rank, int port,
                 struct link_peer **peer);

/* 0: sent or copied, header and payload are free again. 1: on its way, see struct link_send. Negative: failed
 * (the line was logged). */
int link_send(struct link_port *p, struct link_peer *peer, const void *header, size_t header_bytes,
              const void *payload, size_t bytes, struct link_send *s);

/* Receives and completes what it can. How much happened; 0: nothing. */
int link_progress(struct link_port *p);

/* To sleep in poll: link_arm, and if it returns 0, poll link_descriptor (readable: progress) for at most
 * link_nap microseconds (UINT64_MAX: as long as one likes; LINK_MPI cannot promise that every message
 * shows on the descriptor). -EAGAIN: something is there, make progress first. While a connection is made,
 * the descriptor may be readable with nothing to do: after some wake-ups for nothing, sleep a little, the
 * other end may need the core. */
int link_arm(struct link_port *p);
int link_descriptor(const struct link_port *p);
uint64_t link_nap(const struct link_port *p);

/* ---- memory that others read and write without our doing; LINK_UCX only ---- */

/* Whether the devices do it in hardware. */
bool link_is_direct(const struct link *link);

/* Exposes memory of this process: what others need, at most LINK_KEY bytes; its length, or a negative
 * code. */
struct link_memory;
int link_expose(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key);
void link_hide(struct link *link, struct link_memory *memory);

/* Another's memory, reached through a peer (a helper's port of the process that exposed it). */
struct link_window;
int link_window_open(struct link_peer *peer, const void *key, struct link_window **window);
void link_window_close(struct link_window *window);

/* `to` of a put and `from` of a get are addresses in the process that exposed the memory. Return values as
 * link_send; `sent` means that the local memory is free again (put) or filled (get). A put is complete at
 * the target after link_flush has reported. */
int link_put(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
             struct link_send *s);
int link_get(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
             struct link_send *s);
int link_flush(struct link_port *p, struct link_peer *peer, struct link_send *s);

#endif
