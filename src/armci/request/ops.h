/* ops.h: operations on other nodes, and their encoding in a block's header. */
#ifndef HEARTH_ARMCI_OPS_H
#define HEARTH_ARMCI_OPS_H

#include "data/data.h"
#include "net/net.h"

enum armci_op_kind {
    OP_PUT,
    OP_GET,
    OP_ACC,
    OP_PUTV,
    OP_GETV,
    OP_ACCV,
    OP_RMW,
    OP_FLAG,
    OP_LOCK,
    OP_UNLOCK,
    OP_KINDS
};

/* PUT, GET, ACC: the patch in the target's memory, and the offset of this block in its packed order. */
struct op_patch {
    uint64_t from;
    uint8_t scale[16]; /* of an accumulate */
    uint8_t type;
    char patch[PATCH_WIRE];
};

/* PUTV, GETV, ACCV: `count` addresses in the payload, then, unless it fetches, `bytes` bytes for each of them. */
struct op_vector {
    uint8_t scale[16];
    uint32_t count, bytes;
    uint8_t type;
};

struct op_rmw {
    uint64_t address, operand; /* operand: added, or stored */
    uint32_t op;               /* ARMCI_FETCH_AND_ADD ... */
};

/* A word that is set after everything before it is done. */
struct op_flag {
    uint64_t address;
    int32_t value;
};

struct op_mutex {
    uint64_t set;          /* number of the set */
    uint32_t mutex, owner; /* index in it; rank that owns it */
    uint32_t only_try;
};
_Static_assert(sizeof(struct op_patch) <= NET_HEADER, "it fits into a block's header");

#endif
