/* ex_coll.c: collective operations on teams, as lists of steps (coll/schedule.c): a barrier by dissemination, trees for the
 * others. A reduction to all is one to rank 0, followed by a broadcast, so that all members get the same result.
 *
 * Partial results go from the higher of two ranks to the lower, and the operand of the lower rank is always the left one:
 * operands are combined in the order of the ranks, counted from the root, or from 0 if the operator does not commute. */
#include "gas/ex/ex.h"

#include <string.h>

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

/* A binomial tree from the root: `at` of the root is sent to `at` of all others. */
static void tree_send_all(struct gasnet_coll_operation *o, const struct gasnet_team *team, gex_Rank_t root,
                          void *at, size_t bytes) {
    gex_Rank_t size = team->size, rank = (team->rank + size - root) % size, mask = 1;
    for (; mask < size && !(rank & mask); mask <<= 1)
        ;
    if (rank > 0) {
        gas_schedule_receive(o, (rank - mask + root) % size, TAG_RESULT, at, bytes);
        gas_schedule_next_round(o);
    }
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (rank + mask < size)
            gas_schedule_send(o, (rank + mask + root) % size, TAG_RESULT, at, bytes);
}

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
                                 gex_Flags_t flags) {
    const char *call = "gex_Coll_BroadcastNB";
    struct gasnet_coll_operation *o = coll_open(call, tm, root, flags);
    if (tm->team->rank == root)
        gas_schedule_copy(o, dst, src, nbytes);
    tree_send_all(o, tm->team, root, dst, nbytes);
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
        gas_ex_combine(r->type, r->op, r->sum, s->at, r->count);
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
    size_t bytes = gas_ex_type_bytes(dt);
    if (UNLIKELY(is_user && !user_op))
        gas_fail(call, "user_op is NULL, and the operator is a function of the program");
    if (UNLIKELY(!is_user && ((op & (op - 1)) || bytes == 0 || !gas_ex_type_has(dt, op) ||
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

/* Reduces to the member `first`; there the result is in r->sum when the steps have run. */
static struct ex_reduction *tree_reduce(struct gasnet_coll_operation *o, const struct gasnet_team *team,
                                        gex_Rank_t first, const void *src, const struct ex_reduction *call) {
    gex_Rank_t size = team->size, rank = (team->rank + size - first) % size;
    struct ex_reduction *r = gas_schedule_memory(o, sizeof *r);
    *r = *call;
    r->sum = gas_schedule_memory(o, r->bytes);
    char *result = gas_schedule_memory(o, r->bytes);
    gas_schedule_copy(o, r->sum, src, r->bytes);
    for (gex_Rank_t mask = 1; mask < size && !(rank & (mask - 1)); mask <<= 1) {
        if (rank & mask) {
            gas_schedule_run(o, reduction_settle, r, result);
            gas_schedule_send(o, (rank - mask + first) % size, TAG_DATA, result, r->bytes);
        } else if (rank + mask < size) {
            char *part = gas_schedule_memory(o, r->bytes);
            gas_schedule_receive(o, (rank + mask + first) % size, TAG_DATA, part, r->bytes);
            gas_schedule_next_round(o);
            gas_schedule_run(o, reduction_add, r, part);
        }
    }
    return r;
}

gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                   void *user_cdata, gex_Flags_t flags) {
    const char *call = "gex_Coll_ReduceToOneNB";
    struct ex_reduction what = reduction_check(call, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
    struct gasnet_coll_operation *o = coll_open(call, tm, root, flags);
    gex_Rank_t first = op == GEX_OP_USER_NC ? 0 : root, mine = tm->team->rank;
    struct ex_reduction *r = tree_reduce(o, tm->team, first, src, &what);
    if (mine == first && mine == root)
        gas_schedule_run(o, reduction_settle, r, dst);
    else if (mine == first) {
        char *result = gas_schedule_memory(o, r->bytes);
        gas_schedule_run(o, reduction_settle, r, result);
        gas_schedule_send(o, root, TAG_RESULT, result, r->bytes);
    } else if (mine == root)
        gas_schedule_receive(o, first, TAG_RESULT, dst, r->bytes);
    return coll_event(call, gas_schedule_start(o));
}

gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata,
                                   gex_Flags_t flags) {
    const char *call = "gex_Coll_ReduceToAllNB";
    struct ex_reduction what = reduction_check(call, dt, dt_sz, dt_cnt, op, user_op, user_cdata);
    struct gasnet_coll_operation *o = coll_open(call, tm, 0, flags);
    struct ex_reduction *r = tree_reduce(o, tm->team, 0, src, &what);
    if (tm->team->rank == 0)
        gas_schedule_run(o, reduction_settle, r, dst);
    tree_send_all(o, tm->team, 0, dst, r->bytes);
    return coll_event(call, gas_schedule_start(o));
}
