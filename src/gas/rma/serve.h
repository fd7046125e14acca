/* serve.h: operations that the helper of a node executes for ranks of other nodes. */
#ifndef HEARTH_GAS_SERVE_H
#define HEARTH_GAS_SERVE_H

#include "gas/inside.h"

enum gas_op {
    GAS_AM_PART,  /* part of a long payload; its request follows */
    GAS_AM,       /* a request */
    GAS_AM_PULL,  /* fetch of a parked request */
    GAS_AM_REPLY, /* or the notice that there is none */
    GAS_GET,      /* memory: dram.c */
    GAS_PUT,
    GAS_SET,
    GAS_BATCH, /* of short operations: batch.c */
    GAS_OPS
};

/* The handlers, called in the helper's thread: they never wait, and run no code of the program. */
net_serve am_serve_part, am_serve, am_serve_pull, am_serve_reply; /* arrive.c */
net_serve dram_serve_get, dram_serve_put, dram_serve_set;         /* dram.c */
net_serve dram_serve_batch;                                       /* batch.c */

/* For net_open. */
extern const struct net_service gas_service;

#endif
