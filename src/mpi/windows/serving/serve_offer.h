/* serve_offer.h: a served window that is being created: each rank of a node offers its part, and makes the targets of this node
 * from the offers of all. */
#ifndef HEARTH_MPI_SERVE_OFFER_H
#define HEARTH_MPI_SERVE_OFFER_H

#include "mpi/windows/serving/state/memory.h"
#include "mpi/windows/serving/party.h"

enum serve_flavor { SERVE_ALLOCATED, SERVE_CREATED, SERVE_DYNAMIC };

/* A window that is being created. */
struct serve_creation {
    struct party party;
    enum serve_flavor flavor;
    MPI_Info info;
    bool reached;     /* all memory of this node, and all ranks by messages; by each rank for itself */
    bool beyond_host; /* see serve_offer.c */
    const char *why;  /* Hearth cannot serve it, as far as this rank knows; NULL: it does not know */
};

/* A rank's part of the window, as it is sent to the others of its node. */
struct serve_offer {
    uint64_t base, bytes, unit;
    uint64_t alignment; /* of allocated memory, that the program asks for */
    int64_t rank;       /* in the window */
    /* That it is part of. If allocated, the id of the node's lowest rank counts. The owner's locks protect it. */
    struct serve_memory_name memory;
    struct serve_card process;
    uint64_t probe; /* address of a byte of its process that can be read */
    int64_t gate;   /* number of its gate in its process; -1: none */
    int64_t pid;    /* 0: no memory to describe the window */
};

struct serve_offer serve_offer_make(const void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                                    enum serve_flavor flavor);

/* Collective among the ranks of this node. Exchanges the offers, and makes the memory and the targets of this node. Fails on
 * all of these ranks or on none. */
int serve_offers_gather(struct served *s, struct serve_creation *c, const struct serve_offer *own);

#endif
