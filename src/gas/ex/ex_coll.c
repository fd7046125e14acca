/* ex_coll.c: collective operations on teams, as lists of steps (coll/schedule.c): a barrier by dissemination, trees
 * (coll/coll_tree.c) for the others. A reduction to all is one to rank 0, followed by a broadcast, so that all members get the same result.
 *
 * The operand of the lower rank is always the left one: operands are combined in the order of the ranks, counted from the
 * root, or from 0 if the operator does not commute. */
#include "gas/ex/ex.h"

#include <string.h>

#include "base/compiler.h"
#include "gas/rma/gas_handle.h"

/* ---- events ---- */

/* An operation that is already complete needs no event. */
static gex_Event_t coll_event(const char *call, gasnet_coll_handle_t coll) {
    struct gas_thread *t = gas_thread_mine();
    if (gas_schedule_try(coll))
        return GEX_EVENT_INVALID;
    struct gasnet_operation *o = gas_operation_new(t);
    if (!o)
        gas_fail(call, "no memory for the record of an operation");
    o->kind = OPERATION_COLL;
    o->polled = true;
    o->category = CATEGORY_RMW;
    o->coll = coll;
    return o;
}

static struct gasnet_coll_operation *coll_open(const char *call, gex_TM_t tm, gex_Rank_t root,
                                               gex_Flags_t flags) {
    gas_need(call, 0);
    if (gas_ex_checks || !tm)
        gas_ex_check_member(call, tm);
    gas_ex_flags(call, flags, 0);
    if (UNLIKELY(root >= tm->team->size))
        gas_fail(call, "there is no rank %u in a team of %u", root, tm->team->size);
    return gas_schedule_new(call, tm->team);
}

/* ---- barrier and broadcast ---- */

gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) {
    const char *call = "gex_Coll_BarrierNB";
    struct gasnet_coll_operation *o = coll_open(call, tm, 0, flags);
    gas_schedule_barrier(o, TAG_IN);
    return coll_event(call, gas_schedule_start(o));
}

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
                                 gex_Flags_t flags) {
    const char *call = "gex_Coll_BroadcastNB";
    struct gasnet_coll_operation *o = coll_open(call, tm, root, flags);
    if (tm->team->rank == root)
        gas_schedule_copy(o, dst, src, nbytes);
    gas_tree_broadcast(o, tm->team, root, TAG_RESULT, dst, dst, nbytes);
    return coll_event(call, gas_schedule_start(o));
}

/* ---- reductions ---- */

struct ex_reduction {
    gex_DT_t type;
    gex_OP_t op;
    gex_Coll_ReduceFn_t function; /* of the program, or NULL */
    const void *cdata;
    size_t count, bytes;
    void *sum;
};

/* The function overwrites its right operand, which is the part that was received. */
static void reduction_add(struct gasnet_coll_operation *o, struct step *s) {
    struct ex_reduction *r = s->arg;
    (void)o;
    if (r->function)
        r->function(r->sum, s->at, r->count, r->cdata);
    else
        gas_number_combine(r->type, r->op, r->sum, s->at, r->count);
    r->sum = s->at;
}

/* The address of the partial result is not known before the steps run. */
static void reduction_settle(struct gasnet_coll_operation *o, struct step *s) {
    const struct ex_reduction *r = s->arg;
    (void)o;
    memcpy(s->at, r->sum, r->bytes);
}

static struct ex_reduction reduction_check(const char *call, gex_DT_t dt, size_t dt_sz, size_t dt_cnt,
                                           gex_OP_t op, gex_Coll_ReduceFn_t user_op, const void *cdata) {
    bool is_user = op == GEX_OP_USER || op == GEX_OP_USER_NC;
    size_t bytes = gas_number_type_bytes(dt);
    if (UNLIKELY(is_user && !user_op))
        gas_fail(call, "user_op is NULL, and the operator is a function of the program");
    if (UNLIKELY(!is_user && ((op & (op - 1)) || bytes == 0 || !gas_number_type_has(dt, op) ||
                              op & (GEX_OP_SUB | GEX_OP_INC | GEX_OP_DEC | GEX_OP_SET | GEX_OP_CAS))))
        gas_fail(call, "operator 0x%x is not one for reductions of the type 0x%x", op, dt);
    if (UNLIKELY(bytes == 0 && dt != GEX_DT_USER))
        gas_fail(call, "0x%x is not a type", dt);
    if (UNLIKELY(dt_sz == 0 || (bytes > 0 && dt_sz != bytes)))
        gas_fail(call, "elements of %zu bytes: the type 0x%x has %zu", dt_sz, dt, bytes);
    return (struct ex_reduction){.type = dt,
                                 .op = op,
                                 .function = is_user ? user_op : NULL,
                                 .cdata = cdata,
                                 .count = dt_cnt,
                                 .bytes = dt_sz * dt_cnt};
}

/* The reduction as steps of the operation: the member's own operand is its partial result at first. */
static struct tree_reduction reduction_begin(struct gasnet_coll_operation *o, const void *src,
                                             const struct ex_reduction *call) {
    struct ex_reduction *r = gas_schedule_memory(o, sizeof *r);
    *r = *call;
    r->sum = gas_schedule_memory(o, r->bytes);
    gas_schedule_copy(o, r->sum, src, r->bytes);
    return (struct tree_reduction){
        .add = reduction_add, .settle = reduction_settle, .arg = r, .bytes = r->bytes};
}

gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                   void *user_cdata, gex_Flags_t flags) {
    const char *call = "gex_Coll_ReduceToOneNB";
    struct ex_reduction what = reduction_check(call, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
    struct gasnet_coll_operation *o = coll_open(call, tm, root, flags);
    struct tree_reduction tree = reduction_begin(o, src, &what);
    gas_tree_reduce_to(o, tm->team, op == GEX_OP_USER_NC ? 0 : root, root, dst, &tree);
    return coll_event(call, gas_schedule_start(o));
}

gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata,
                                   gex_Flags_t flags) {
    const char *call = "gex_Coll_ReduceToAllNB";
    struct ex_reduction what = reduction_check(call, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
    struct gasnet_coll_operation *o = coll_open(call, tm, 0, flags);
    struct tree_reduction tree = reduction_begin(o, src, &what);
    gas_tree_reduce_to(o, tm->team, 0, 0, dst, &tree);
    gas_tree_broadcast(o, tm->team, 0, TAG_RESULT, dst, dst, what.bytes);
    return coll_event(call, gas_schedule_start(o));
}
