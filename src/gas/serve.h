/* serve.h: what the helper of a node does for the ranks of others. */
#ifndef HEARTH_GAS_SERVE_H
#define HEARTH_GAS_SERVE_H

#include "gas/inside.h"

enum gas_op {
    GAS_AM_PART,  /* of a long payload of a request that follows */
    GAS_AM,       /* a request */
    GAS_AM_PULL,  /* of a request that is parked */
    GAS_AM_REPLY, /* or that there is none */
    GAS_GET,      /* memory: dram.c */
    GAS_PUT,
    GAS_SET,
    GAS_BATCH, /* of short ones: batch.c */
    GAS_OPS
};

/* The handlers, each called in the helper's thread: it never waits, and runs no code of the program. */
net_serve am_serve_part, am_serve, am_serve_pull, am_serve_reply; /* arrive.c */
net_serve dram_serve_get, dram_serve_put, dram_serve_set;         /* dram.c */
net_serve dram_serve_batch;                                       /* batch.c */

/* For net_open. */
extern const struct net_service gas_service;

#endif
