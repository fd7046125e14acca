/* mpi_progress.c: progress of a port over MPI, and its sleep.
 *
 * No MPI call sleeps. A helper's port sleeps on the socket of its wakeups, and polls now and then, as wakeups may get
 * lost; a main port, which gets none, polls at short intervals. While MPI requests are pending, MPI needs calls to make
 * progress. */
#include <errno.h>

#include "net/mpi/mpi_link.h"

enum {
    MAIN_NAP = 50, /* microseconds: main ports get no wakeups */
    BUSY_NAP = 20, /* while MPI requests are pending */
};

int net_link_mpi_progress(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    int happened = net_link_mpi_complete_sends(p) + net_link_mpi_receive(p);
    return happened + net_link_mpi_report_failures(p);
}

/* Receives wakeups before it probes: a wakeup that arrives later makes the descriptor readable. */
int net_link_mpi_arm(struct link_port *port) {
    struct mpi_port *p = (struct mpi_port *)port;
    int there = 0;
    if (p->failing)
        return -EAGAIN;
    net_wakeup_expects(&p->wakeup);
    p->link->calls.iprobe(MPI_ANY_SOURCE, p->number, net_link_mpi_comm(p->link, p->number), &there,
                          MPI_STATUS_IGNORE);
    return there ? -EAGAIN : 0;
}

static bool port_listens(const struct mpi_port *p) {
    return p->wakeup.address.any.sa_family != AF_UNSPEC;
}

int net_link_mpi_descriptor(const struct link_port *port) {
    const struct mpi_port *p = (const struct mpi_port *)port;
    return port_listens(p) ? p->wakeup.socket : -1;
}

uint64_t net_link_mpi_nap(const struct link_port *port) {
    const struct mpi_port *p = (const struct mpi_port *)port;
    if (p->sends.active || p->receives.pending)
        return BUSY_NAP;
    return p->number == 0 ? MAIN_NAP : net_wakeup_nap(&p->wakeup);
}
