/* mpi_link.h: the link over MPI: its communicators. mpi.c has its ports. */
#ifndef HEARTH_NET_MPI_LINK_H
#define HEARTH_NET_MPI_LINK_H

#include <mpi.h>

#include "net/link/link_internal.h"

/* The calls that send and receive. */
struct link_mpi_calls {
    __typeof__(PMPI_Isend) *isend;
    __typeof__(PMPI_Improbe) *improbe;
    __typeof__(PMPI_Imrecv) *imrecv;
    __typeof__(PMPI_Iprobe) *iprobe;
    __typeof__(PMPI_Test) *test;
    __typeof__(PMPI_Testsome) *testsome;
};

struct mpi_link {
    struct link base;
    struct link_mpi_calls calls;
    MPI_Comm comms[2]; /* for main ports; for helpers */
    size_t most;
    bool one_machine;
};

int net_link_mpi_open(const struct link_options *options, struct link **link);
void net_link_mpi_close(struct link *link);

/* Logs an error of MPI. Returns -EIO. */
int net_link_mpi_said(int code, const char *what, int rank);

#endif
