/* gasnetex_coll.h: collective operations on any team, of GASNet-EX. All members of the team make the same calls, in the
 * same order. Addresses are those of the caller, inside or outside of its segment. The calls do not wait: the event is
 * synchronised. The operations progress while the members poll. flags must be 0. Part of gasnetex.h. */
#ifndef HEARTH_GASNETEX_COLL_H
#define HEARTH_GASNETEX_COLL_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- collective operations ---- */

/* Combines `count` elements: arg2_and_out[i] = arg1[i] (operator) arg2_and_out[i]. */
typedef void (*gex_Coll_ReduceFn_t)(const void *arg1, void *arg2_and_out, size_t count, const void *cdata);

/* Complete when all members have made the call. */
gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags) GASNET_MUST_USE;

/* Copies nbytes from src of the member root to dst of all members, root included. */
gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
                                 gex_Flags_t flags) GASNET_MUST_USE;

/* Combines the dt_cnt elements of dt_sz bytes at src of all members, element by element, into dst of the member root, or
 * of all. op: GEX_OP_ADD, MULT, MIN, MAX, for integers also AND, OR and XOR; GEX_OP_USER, or GEX_OP_USER_NC, which keeps
 * operands in the order of the ranks: the function user_op, which gets user_cdata, and is called by a thread that polls.
 * dst may be src. All members get the same result. */
gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt,
                                   size_t dt_sz, size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op,
                                   void *user_cdata, gex_Flags_t flags) GASNET_MUST_USE;
gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata,
                                   gex_Flags_t flags) GASNET_MUST_USE;

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
