/* mpi_port.c: opens and closes the ports of the link over MPI; its table of functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/mpi/mpi_link.h"

static void mpi_port_free(struct mpi_port *p) {
    net_link_mpi_free_receives(p);
    net_link_mpi_free_sends(p);
    net_link_mpi_free_peers(p);
    net_wakeup_close(&p->wakeup);
    free(p);
}

static int link_mpi_port_open(struct link *link, int number, const struct link_events *events,
                              struct link_port **port) {
    struct mpi_link *l = (struct mpi_link *)link;
    struct mpi_port *p = calloc(1, sizeof *p);
    if (!p)
        goto no_memory;
    *p =
        (struct mpi_port){.base = {.network = &net_link_mpi}, .link = l, .events = *events, .number = number};
    net_wakeup_open(&p->wakeup, number != 0, l->one_machine);
    if (net_link_mpi_prepare_receives(p) != 0)
        goto no_memory;
    *port = &p->base;
    return 0;

no_memory:
    log_error("network mpi: no memory for port %d", number);
    if (p)
        mpi_port_free(p);
    return -ENOMEM;
}

static int link_mpi_port_address(struct link_port *port, void *into) {
    struct mpi_port *p = (struct mpi_port *)port;
    memcpy(into, &p->wakeup.address, sizeof p->wakeup.address);
    return sizeof p->wakeup.address;
}

/* The port completes its sends. It receives messages that arrive in the meantime, because their senders may wait for that. */
static void link_mpi_port_quiesce(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    uint64_t deadline = clock_ns() + LINK_CLOSE_NS;
    while (p->sends.active && clock_ns() < deadline)
        if (net_link_mpi_progress(port) == 0)
            net_link_pause();
}

/* Receives messages that no caller waits for any more, such as the last acknowledgements: MPI would report a missing
 * receive. All messages to us were sent before the last barrier, but may still be in flight. */
static void link_mpi_port_shut(struct link_port *port) {
    enum { EMPTY = 5 };
    struct mpi_port *p = (struct mpi_port *)port;
    uint64_t deadline = clock_ns() + LINK_CLOSE_NS;
    p->shut = true;
    for (int empty = 0; empty < EMPTY && clock_ns() < deadline; empty++) {
        if (net_link_mpi_progress(port) > 0)
            empty = 0;
        else
            net_link_pause();
    }
}

static void link_mpi_port_close(struct link_port *port) {
    mpi_port_free((struct mpi_port *)port);
}

const struct link_network net_link_mpi = {
    .open = net_link_mpi_open,
    .close = net_link_mpi_close,
    .port_open = link_mpi_port_open,
    .port_quiesce = link_mpi_port_quiesce,
    .port_shut = link_mpi_port_shut,
    .port_close = link_mpi_port_close,
    .port_address = link_mpi_port_address,
    .connect = net_link_mpi_connect,
    .send = net_link_mpi_send,
    .progress = net_link_mpi_progress,
    .arm = net_link_mpi_arm,
    .descriptor = net_link_mpi_descriptor,
    .nap = net_link_mpi_nap,
};
