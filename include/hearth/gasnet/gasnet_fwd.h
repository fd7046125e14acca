/* gasnet_fwd.h: the constants and simple types of GASNet-EX, for headers of programs that must not include gasnetex.h, which
 * includes this one. It declares no functions, needs no thread mode, and defines only types and macros that begin with gex_ and GEX_.
 *
 * Where the specification leaves a value open and programs nevertheless rely on one, it is that of GASNet-EX's releases. */
#ifndef GASNET_FWD_H
#define GASNET_FWD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- ranks and endpoints ---- */

typedef uint32_t gex_Rank_t;
#define GEX_RANK_INVALID (~(gex_Rank_t)0)

typedef uint16_t gex_EP_Index_t; /* 0: the endpoint that gex_Client_Init creates */
typedef struct gasnetc_location {
    gex_Rank_t gex_rank; /* in the job */
    gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

/* ---- events ---- */

/* An event of an operation under way: the root event, which the thread that started the operation synchronises once, or
 * a leaf event of it (gex_Event_QueryLeaf), which is invalid when its root has been synchronised. */
typedef struct gasnet_operation *gex_Event_t;
#define GEX_EVENT_INVALID ((gex_Event_t)(uintptr_t)0) /* the operation is complete */
#define GEX_EVENT_NO_OP   ((gex_Event_t)(uintptr_t)1) /* GEX_FLAG_IMMEDIATE: nothing was started */

/* Instead of the address of an event: when the source of a put or message may be changed. */
#define GEX_EVENT_NOW   ((gex_Event_t *)(uintptr_t)1) /* when the call returns */
#define GEX_EVENT_DEFER ((gex_Event_t *)(uintptr_t)2) /* when the operation is synchronised */
#define GEX_EVENT_GROUP ((gex_Event_t *)(uintptr_t)3) /* when gex_NBI_Wait(GEX_EC_LC) has returned */

/* ---- flags ---- */

typedef uint32_t gex_Flags_t;

/* Flags of communication calls. */
#define GEX_FLAG_IMMEDIATE               (1u << 0) /* may return without effect instead of waiting */
#define GEX_FLAG_AD_MY_RANK              (1u << 1)
#define GEX_FLAG_AD_MY_NBRHD             (1u << 2)
#define GEX_FLAG_AD_ACQ                  (1u << 3)
#define GEX_FLAG_AD_REL                  (1u << 4)
#define GEX_FLAG_RANK_IS_JOBRANK         (1u << 5)
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT (1u << 11)
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC  (1u << 12)
#define GEX_FLAG_ENABLE_LEAF_LC          (1u << 8)
/* Flags of calls that create and destroy objects. */
#define GEX_FLAG_USES_GASNET1                (1u << 9)
#define GEX_FLAG_TM_NO_SCRATCH               (1u << 10)
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 6)
#define GEX_FLAG_GLOBALLY_QUIESCED           (1u << 7)
#define GEX_FLAG_AD_FAVOR_MY_RANK            (1u << 13)
#define GEX_FLAG_AD_FAVOR_MY_NBRHD           (1u << 14)
#define GEX_FLAG_AD_FAVOR_REMOTE             (1u << 15)
#define GEX_FLAG_TM_GLOBAL_SCRATCH           (1u << 16)
#define GEX_FLAG_TM_LOCAL_SCRATCH            (1u << 17)
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH        (1u << 18)
#define GEX_FLAG_HINT_ACCEL_AD               (1u << 19)
#define GEX_FLAG_HINT_ACCEL_COLL             (1u << 20)
#define GEX_FLAG_HINT_ACCEL_ALL              (GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL)
#define GEX_FLAG_DEFER_THREADS               (1u << 21)
/* Where the memory of a put, get or message is: in this process (SELF) and in the other (PEER). Has no effect.
 * OFFSET, which no release implements, is accepted by gex_AD_Create only. */
#define GEX_FLAG_SELF_SEG_UNKNOWN (1u << 24)
#define GEX_FLAG_SELF_SEG_SOME    (1u << 25)
#define GEX_FLAG_SELF_SEG_BOUND   (1u << 26)
#define GEX_FLAG_SELF_SEG_OFFSET  (1u << 27)
#define GEX_FLAG_PEER_SEG_UNKNOWN (1u << 28)
#define GEX_FLAG_PEER_SEG_SOME    (1u << 29)
#define GEX_FLAG_PEER_SEG_BOUND   (1u << 30)
#define GEX_FLAG_PEER_SEG_OFFSET  (1u << 31)
/* Puts and gets: the peer is never this process, or never in its neighbourhood. Has no effect. */
#define GEX_FLAG_PEER_NEVER_SELF  (1u << 22)
#define GEX_FLAG_PEER_NEVER_NBRHD (1u << 23)

/* How a handler is called: one of the first four and one of the last three. */
#define GEX_FLAG_AM_SHORT   (1u << 0)
#define GEX_FLAG_AM_MEDIUM  (1u << 1)
#define GEX_FLAG_AM_LONG    (1u << 2)
#define GEX_FLAG_AM_MEDLONG (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST (1u << 3)
#define GEX_FLAG_AM_REPLY   (1u << 4)
#define GEX_FLAG_AM_REQREP  (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)

/* ---- types and operators of atomic operations and reductions: each is one bit ---- */

typedef uint32_t gex_DT_t;
#define GEX_DT_I32  (1u << 0) /* int32_t */
#define GEX_DT_U32  (1u << 1) /* uint32_t */
#define GEX_DT_I64  (1u << 2) /* int64_t */
#define GEX_DT_U64  (1u << 3) /* uint64_t */
#define GEX_DT_FLT  (1u << 4) /* float */
#define GEX_DT_DBL  (1u << 5) /* double */
#define GEX_DT_USER (1u << 6) /* reductions only: any bytes */

typedef uint32_t gex_OP_t;
#define GEX_OP_AND   (1u << 0)
#define GEX_OP_OR    (1u << 1)
#define GEX_OP_XOR   (1u << 2)
#define GEX_OP_ADD   (1u << 3)
#define GEX_OP_SUB   (1u << 4)
#define GEX_OP_MULT  (1u << 5)
#define GEX_OP_MIN   (1u << 6)
#define GEX_OP_MAX   (1u << 7)
#define GEX_OP_INC   (1u << 8)
#define GEX_OP_DEC   (1u << 9)
#define GEX_OP_SET   (1u << 10)
#define GEX_OP_CAS   (1u << 11)
#define GEX_OP_FAND  (1u << 15) /* F: the previous value is returned */
#define GEX_OP_FOR   (1u << 16)
#define GEX_OP_FXOR  (1u << 17)
#define GEX_OP_FADD  (1u << 18)
#define GEX_OP_FSUB  (1u << 19)
#define GEX_OP_FMULT (1u << 20)
#define GEX_OP_FMIN  (1u << 21)
#define GEX_OP_FMAX  (1u << 22)
#define GEX_OP_FINC  (1u << 23)
#define GEX_OP_FDEC  (1u << 24)
#define GEX_OP_SWAP  (1u << 25)
#define GEX_OP_FCAS  (1u << 26)
#define GEX_OP_GET   (1u << 27)
#define GEX_OP_CSWAP GEX_OP_FCAS
/* Reductions only: functions of the program; NC: not commutative. */
#define GEX_OP_USER    (1u << 30)
#define GEX_OP_USER_NC (1u << 31)

#define GEX_OP_TO_FETCHING(op)    ((op) << 15) /* SET and SWAP are a pair */
#define GEX_OP_TO_NONFETCHING(op) ((op) >> 15)

#ifdef __cplusplus
}
#endif

#endif
