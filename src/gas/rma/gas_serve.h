/* gas_serve.h: operations that the helper of a node executes for ranks of other nodes. */
#ifndef HEARTH_GAS_SERVE_H
#define HEARTH_GAS_SERVE_H

#include "gas/gas_internal.h"

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
net_serve gas_am_serve_part, gas_am_serve, gas_am_serve_pull, gas_am_serve_reply; /* am_arrive.c */
net_serve gas_dram_serve_get, gas_dram_serve_put, gas_dram_serve_set;             /* dram.c */
net_serve gas_dram_serve_batch;                                                   /* batch.c */

/* For net_open. */
extern const struct net_service gas_service;

#endif
