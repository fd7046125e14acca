/* ex_atomic.c: atomic operations on words in segments: domains and calls. An operation is an update of gas_update.h, executed
 *
 *      in this process   if the segment is its own, or is memory of the same node (HEARTH_NVM=off), or if the page of the word
 *                        is in this node's pool and may be written there
 *      at the owner      otherwise: by the thread that serves the node of the segment, or that holds the page, without any
 *                        action of the program there. A page that this node updates often is fetched instead (fetch_policy.h)
 *
 * **Order.** The update is sequentially consistent; request and answer release and acquire. So every operation has the effect
 * of GEX_FLAG_AD_REL and GEX_FLAG_AD_ACQ. An operation is complete when its word is changed: a put or operation that starts
 * later finds it changed. Nothing waits for a resource that an immediate call could refuse to wait for. */
#include "gas/ex/ex.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "gas/rma/gas_transfer.h"
#include "gas/memory/gas_update.h"

struct gasnetc_domain {
    gex_TM_t tm;
    gex_DT_t type;
    gex_OP_t ops;
    gex_Flags_t flags;
    size_t bytes; /* of a word */
    const void *cdata;
};

/* ---- domains ---- */

static bool ops_are_valid(gex_DT_t dt, gex_OP_t ops) {
    gex_OP_t plain = (ops & ~(EX_FETCHING_OPS | GEX_OP_GET)) | GEX_OP_TO_NONFETCHING(ops & EX_FETCHING_OPS);
    return ops != 0 && (plain == 0 || gas_number_type_has(dt, plain));
}

void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
    const char *call = "gex_AD_Create";
    gas_need(call, 0);
    gas_ex_check_member(call, tm);
    gas_ex_flags(call, flags,
                 GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE |
                     EX_SEGMENT_FLAGS | GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
    if (UNLIKELY(gas_number_type_bytes(dt) == 0))
        gas_fail(call, "0x%x is not one of the types GEX_DT_I32, U32, I64, U64, FLT and DBL", dt);
    if (UNLIKELY(!ops_are_valid(dt, ops)))
        gas_fail(call, "operators 0x%x: none, or some that the type 0x%x does not have", ops, dt);
    gex_AD_t ad = malloc(sizeof *ad);
    if (!ad)
        gas_fail(call, "no memory for an atomic domain");
    *ad = (struct gasnetc_domain){
        .tm = tm, .type = dt, .ops = ops, .flags = flags, .bytes = gas_number_type_bytes(dt)};
    *ad_p = ad;
}

static void domain_check(const char *call, gex_AD_t ad) {
    if (UNLIKELY(!ad))
        gas_fail(call, "the atomic domain is GEX_AD_INVALID");
}

void gex_AD_Destroy(gex_AD_t ad) {
    domain_check("gex_AD_Destroy", ad);
    free(ad);
}

gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad) {
    domain_check("gex_AD_QueryFlags", ad);
    return ad->flags;
}

gex_TM_t gex_AD_QueryTM(gex_AD_t ad) {
    domain_check("gex_AD_QueryTM", ad);
    return ad->tm;
}

gex_DT_t gex_AD_QueryDT(gex_AD_t ad) {
    domain_check("gex_AD_QueryDT", ad);
    return ad->type;
}

gex_OP_t gex_AD_QueryOps(gex_AD_t ad) {
    domain_check("gex_AD_QueryOps", ad);
    return ad->ops;
}

void gex_AD_SetCData(gex_AD_t ad, const void *val) {
    domain_check("gex_AD_SetCData", ad);
    ad->cdata = val;
}

void *gex_AD_QueryCData(gex_AD_t ad) {
    domain_check("gex_AD_QueryCData", ad);
    return (void *)ad->cdata;
}

/* One call. */
struct atomic_call {
    const char *name;
    gex_AD_t ad;
    void *result; /* NULL: the operator does not fetch */
    gasnet_node_t node;
    void *at;
    gex_OP_t op;
    uint64_t a, b;
    gex_Flags_t flags;
};

/* ---- the calls ---- */

static void atomic_check(const struct atomic_call *c, gex_DT_t type) {
    const gasnet_seginfo_t *s = &gas_job.segments[c->node];
    uintptr_t offset = (uintptr_t)c->at - (uintptr_t)s->addr;
    gas_ex_flags(c->name, c->flags,
                 GEX_FLAG_IMMEDIATE | GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD | GEX_FLAG_AD_ACQ |
                     GEX_FLAG_AD_REL | GEX_FLAG_RANK_IS_JOBRANK | EX_SEGMENT_FLAGS);
    if (UNLIKELY(c->ad->type != type))
        gas_fail(c->name, "the domain has type 0x%x, and the call 0x%x", c->ad->type, type);
    if (UNLIKELY(!(c->op & c->ad->ops) || (c->op & (c->op - 1))))
        gas_fail(c->name, "0x%x is not one of the domain's operators, 0x%x", c->op, c->ad->ops);
    if (UNLIKELY(offset > s->size || c->ad->bytes > s->size - offset))
        gas_fail(c->name, "%zu bytes at %p do not lie in the segment of node %u", c->ad->bytes, c->at,
                 c->node);
    if (UNLIKELY((uintptr_t)c->at % c->ad->bytes))
        gas_fail(c->name, "%p is not aligned to %zu bytes", c->at, c->ad->bytes);
}

static struct atomic_call atomic_begin(const char *name, gex_AD_t ad, gex_DT_t type, void *result,
                                       gex_Rank_t rank, void *at, gex_OP_t op, const void *a, const void *b,
                                       gex_Flags_t flags) {
    struct atomic_call c = {.name = name, .ad = ad, .at = at, .op = op, .flags = flags};
    domain_check(name, ad);
    c.node = flags & GEX_FLAG_RANK_IS_JOBRANK ? rank : gas_ex_rank(name, ad->tm, rank);
    gas_need(name, c.node);
    gas_need_free(name);
    c.result = op & (EX_FETCHING_OPS | GEX_OP_GET) ? result : NULL;
    memcpy(&c.a, a, ad->bytes);
    memcpy(&c.b, b, ad->bytes);
    if (LIKELY(gas_ex_checks))
        atomic_check(&c, type);
    return c;
}

static enum operation_category category_of(gex_OP_t op) {
    return op == GEX_OP_SET ? CATEGORY_PUT : op == GEX_OP_GET ? CATEGORY_GET : CATEGORY_RMW;
}

/* Returns the operation, or GEX_EVENT_INVALID: it is complete. */
static gex_Event_t atomic_start(const struct atomic_call *c) {
    struct gas_thread *t = gas_thread_mine();
    struct pages_update u = gas_update_of(c->ad->type, c->op, c->a, c->b);
    gas_transfer_poll(t);
    struct gasnet_operation *o = gas_operation_new(t);
    if (!o)
        gas_fail(c->name, "no memory for the record of an operation");
    o->category = category_of(c->op);
    gas_am_enter();
    bool complete = gas_memory_begin_update(&o->memory, c->result, (int)c->node, c->at, &u);
    gas_am_leave();
    if (complete) {
        gas_operation_free(t, o);
        return GEX_EVENT_INVALID;
    }
    gas_operation_opened(t, o);
    return o;
}

static int atomic_start_implicit(const struct atomic_call *c) {
    gex_Event_t event = atomic_start(c);
    if (event != GEX_EVENT_INVALID)
        gas_operation_add(gas_thread_mine(), event);
    return 0;
}

#define ATOMIC_CALLS(DT, type)                                                                               \
    gex_Event_t gex_AD_OpNB_##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr,           \
                                 gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags) {         \
        struct atomic_call c = atomic_begin("gex_AD_OpNB_" #DT, ad, GEX_DT_##DT, result_p, tgt_rank,         \
                                            tgt_addr, opcode, &operand1, &operand2, flags);                  \
        return atomic_start(&c);                                                                             \
    }                                                                                                        \
    int gex_AD_OpNBI_##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode, \
                          type operand1, type operand2, gex_Flags_t flags) {                                 \
        struct atomic_call c = atomic_begin("gex_AD_OpNBI_" #DT, ad, GEX_DT_##DT, result_p, tgt_rank,        \
                                            tgt_addr, opcode, &operand1, &operand2, flags);                  \
        return atomic_start_implicit(&c);                                                                    \
    }

ATOMIC_CALLS(I32, int32_t)
ATOMIC_CALLS(U32, uint32_t)
ATOMIC_CALLS(I64, int64_t)
ATOMIC_CALLS(U64, uint64_t)
ATOMIC_CALLS(FLT, float)
ATOMIC_CALLS(DBL, double)
