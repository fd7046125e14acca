/* ex_atomic.c: atomic operations on words in segments.
 *
 * An operation is a compare-and-swap loop of the processor, in a process that has the word mapped:
 *
 *      in this process   if the segment is its own, or is memory of the same node (HEARTH_NVM=off)
 *      at the owner      otherwise: an active message executes it there, and its reply brings the previous value
 *
 * **Atomicity.** All operations on a word use the processor's atomic instructions on the same memory: of a word in memory on
 * the one copy that all processes of the node share; of a word in pages always in the owner's mapping, because no other
 * process maps it. They are therefore atomic with respect to each other, and to loads of the owner, which read that memory. If
 * a page is not mapped, or not writable, the instruction faults without effect and is repeated when the page is here.
 *
 * **Order.** The loop is sequentially consistent; request and reply release and acquire. So every operation has the effect of
 * GEX_FLAG_AD_REL and GEX_FLAG_AD_ACQ. An operation is complete when its word is changed: a put or operation that starts
 * later finds it changed. */
#include "gas/ex/ex.h"

#include <stdlib.h>
#include <string.h>

#include "gas/am/am.h"
#include "gas/rma/gas_handle.h"

struct gasnetc_domain {
    gex_TM_t tm;
    gex_DT_t type;
    gex_OP_t ops;
    gex_Flags_t flags;
    size_t bytes; /* of a word */
    const void *cdata;
};

#define FETCHING_OPS ((GEX_OP_FCAS * 2 - 1) & ~(GEX_OP_CAS * 2 - 1))

/* ---- domains ---- */

static bool ops_are_valid(gex_DT_t dt, gex_OP_t ops) {
    gex_OP_t plain = (ops & ~(FETCHING_OPS | GEX_OP_GET)) | GEX_OP_TO_NONFETCHING(ops & FETCHING_OPS);
    return ops != 0 && (plain == 0 || gas_ex_type_has(dt, plain));
}

void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
    const char *call = "gex_AD_Create";
    gas_need(call, 0);
    gas_ex_check_member(call, tm);
    gas_ex_flags(call, flags,
                 GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE);
    if (UNLIKELY(gas_ex_type_bytes(dt) == 0))
        gas_fail(call, "0x%x is not one of the types GEX_DT_I32, U32, I64, U64, FLT and DBL", dt);
    if (UNLIKELY(!ops_are_valid(dt, ops)))
        gas_fail(call, "operators 0x%x: none, or some that the type 0x%x does not have", ops, dt);
    gex_AD_t ad = malloc(sizeof *ad);
    if (!ad)
        gas_fail(call, "no memory for an atomic domain");
    *ad = (struct gasnetc_domain){
        .tm = tm, .type = dt, .ops = ops, .flags = flags, .bytes = gas_ex_type_bytes(dt)};
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

/* ---- execution, where the word is mapped ---- */

/* Words hold a value at their lowest address. */
static uint64_t word_of_32(uint32_t bits) {
    uint64_t word = 0;
    memcpy(&word, &bits, sizeof bits);
    return word;
}

static uint32_t bits_of_word(uint64_t word) {
    uint32_t bits;
    memcpy(&bits, &word, sizeof bits);
    return bits;
}

static uint64_t execute_32(uint32_t *at, gex_DT_t type, gex_OP_t op, uint64_t a, uint64_t b) {
    uint32_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    if (op != GEX_OP_GET)
        while (!__atomic_compare_exchange_n(at, &old,
                                            bits_of_word(gas_ex_apply(type, op, word_of_32(old), a, b)),
                                            false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
    return word_of_32(old);
}

static uint64_t execute_64(uint64_t *at, gex_DT_t type, gex_OP_t op, uint64_t a, uint64_t b) {
    uint64_t old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    if (op != GEX_OP_GET)
        while (!__atomic_compare_exchange_n(at, &old, gas_ex_apply(type, op, old, a, b), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
    return old;
}

/* Returns the previous value. */
static uint64_t execute_at(void *at, gex_DT_t type, gex_OP_t op, uint64_t a, uint64_t b) {
    gex_OP_t plain = op & FETCHING_OPS ? GEX_OP_TO_NONFETCHING(op) : op;
    return gas_ex_type_bytes(type) == 4 ? execute_32(at, type, plain, a, b)
                                        : execute_64(at, type, plain, a, b);
}

/* ---- execution at the owner ---- */

static uint64_t word_from(int32_t low, int32_t high) {
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static void *pointer_from(int32_t low, int32_t high) {
    return (void *)(uintptr_t)word_from(low, high);
}

/* The handler of AM_ATOMIC, at the owner. The requesting rank has checked the address. */
static void on_atomic(gasnet_token_t token, int32_t type, int32_t op, int32_t at_low, int32_t at_high,
                      int32_t a_low, int32_t a_high, int32_t b_low, int32_t b_high, int32_t record_low,
                      int32_t record_high) {
    uint64_t old = execute_at(pointer_from(at_low, at_high), (gex_DT_t)type, (gex_OP_t)op,
                              word_from(a_low, a_high), word_from(b_low, b_high));
    gas_am_reply(token, AM_ATOMIC_DONE, GASNETC_SHORT, NULL, 0, NULL, 4,
                 (int32_t[]){(int32_t)old, (int32_t)(old >> 32), record_low, record_high});
}

/* The handler of AM_ATOMIC_DONE, at the requesting rank. */
static void on_atomic_done(gasnet_token_t token, int32_t low, int32_t high, int32_t record_low,
                           int32_t record_high) {
    struct gasnet_operation *o = pointer_from(record_low, record_high);
    uint64_t old = word_from(low, high);
    (void)token;
    if (o->result)
        memcpy(o->result, &old, o->result_bytes);
    atomic_store_explicit(&o->answered, true,
                          memory_order_release); /* pairs with gas_operation_is_complete */
}

void gas_ex_atomic_open(void) {
    gas_am_register(AM_ATOMIC, (am_handler *)on_atomic);
    gas_am_register(AM_ATOMIC_DONE, (am_handler *)on_atomic_done);
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

/* Returns the operation, or NULL: a slot would have to be waited for. */
static struct gasnet_operation *atomic_send(const struct atomic_call *c) {
    struct gas_thread *t = gas_thread_mine();
    struct gasnet_operation *o = gas_operation_new(t);
    if (!o)
        gas_fail(c->name, "no memory for the record of an operation");
    uint64_t at = (uint64_t)(uintptr_t)c->at, record = (uint64_t)(uintptr_t)o;
    int32_t args[] = {(int32_t)c->ad->type, (int32_t)c->op,         (int32_t)at,   (int32_t)(at >> 32),
                      (int32_t)c->a,        (int32_t)(c->a >> 32),  (int32_t)c->b, (int32_t)(c->b >> 32),
                      (int32_t)record,      (int32_t)(record >> 32)};
    o->kind = OPERATION_ANSWER;
    o->polled = true;
    o->category = c->op == GEX_OP_SET ? CATEGORY_PUT : c->op == GEX_OP_GET ? CATEGORY_GET : CATEGORY_RMW;
    o->result = c->result;
    o->result_bytes = c->ad->bytes;
    atomic_store_explicit(&o->answered, false, memory_order_relaxed);
    if (!gas_am_request((int)c->node, AM_ATOMIC, GASNETC_SHORT, NULL, 0, NULL,
                        !(c->flags & GEX_FLAG_IMMEDIATE), sizeof args / sizeof args[0], args)) {
        gas_operation_free(t, o);
        return NULL;
    }
    gas_operation_opened(t, o);
    return o;
}

/* ---- the calls ---- */

static void atomic_check(const struct atomic_call *c, gex_DT_t type) {
    const gasnet_seginfo_t *s = &gas_job.segments[c->node];
    uintptr_t offset = (uintptr_t)c->at - (uintptr_t)s->addr;
    gas_ex_flags(c->name, c->flags,
                 GEX_FLAG_IMMEDIATE | GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD | GEX_FLAG_AD_ACQ |
                     GEX_FLAG_AD_REL | GEX_FLAG_RANK_IS_JOBRANK);
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

static bool atomic_is_mapped(const struct atomic_call *c) {
    return gas_ex_mapped(c->node).size > 0;
}

static struct atomic_call atomic_begin(const char *name, gex_AD_t ad, gex_DT_t type, void *result,
                                       gex_Rank_t rank, void *at, gex_OP_t op, const void *a, const void *b,
                                       gex_Flags_t flags) {
    struct atomic_call c = {.name = name, .ad = ad, .at = at, .op = op, .flags = flags};
    domain_check(name, ad);
    c.node = flags & GEX_FLAG_RANK_IS_JOBRANK ? rank : gas_ex_rank(name, ad->tm, rank);
    gas_need(name, c.node);
    gas_need_free(name);
    c.result = op & (FETCHING_OPS | GEX_OP_GET) ? result : NULL;
    memcpy(&c.a, a, ad->bytes);
    memcpy(&c.b, b, ad->bytes);
    if (LIKELY(gas_ex_checks))
        atomic_check(&c, type);
    return c;
}

static void atomic_execute(const struct atomic_call *c) {
    uint64_t old = execute_at(c->at, c->ad->type, c->op, c->a, c->b);
    if (c->result)
        memcpy(c->result, &old, c->ad->bytes);
}

static gex_Event_t atomic_start(const struct atomic_call *c) {
    if (atomic_is_mapped(c)) {
        atomic_execute(c);
        return GEX_EVENT_INVALID;
    }
    struct gasnet_operation *o = atomic_send(c);
    return o ? o : GEX_EVENT_NO_OP;
}

static int atomic_start_implicit(const struct atomic_call *c) {
    gex_Event_t event = atomic_start(c);
    if (event == GEX_EVENT_NO_OP)
        return 1;
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
