/* party.h: the processes of a window that is being created, and those of them on this node. */
#ifndef HEARTH_MPI_SERVE_PARTY_H
#define HEARTH_MPI_SERVE_PARTY_H

#include "mpi/windows/serving/remote/domain.h"

struct party {
    MPI_Comm program; /* the communicator of the program */
    MPI_Comm comm;    /* all, in the same order */
    bool keeps_comm;  /* it stays with the program's, or with the window */
    struct net_boot boot;
    MPI_Comm local_comm; /* those of this node; MPI_COMM_NULL: all are */
    struct net_boot local;
    struct serve_domain *domain; /* if there are several nodes */
    uint64_t *nodes;             /* of the processes, in the domain (serve_domain_nodes) */
};

/* Collective. If true, serve_party_close must be called. False: no domain can be opened. */
bool serve_party_open(struct party *p, MPI_Comm comm);
void serve_party_close(struct party *p);

#endif
