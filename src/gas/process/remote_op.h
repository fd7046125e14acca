/* remote_op.h: operations that the helper of a node executes for ranks of other nodes. Their handlers are called in the helper's thread: they
 * never wait, and run no code of the program. */
#ifndef HEARTH_GAS_REMOTE_OP_H
#define HEARTH_GAS_REMOTE_OP_H

enum gas_op {
    GAS_AM_PART,  /* part of a long payload; its request follows */
    GAS_AM,       /* a request */
    GAS_AM_PULL,  /* fetch of a parked request */
    GAS_AM_REPLY, /* or the notice that there is none */
    GAS_GET,      /* memory: dram.c */
    GAS_PUT,
    GAS_SET,
    GAS_BATCH /* of short operations: batch.c */
};

#endif
