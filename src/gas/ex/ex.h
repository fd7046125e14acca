/* ex.h: GASNet-EX as a layer over the folders of GASNet-1: its objects, and how its calls find ranks.
 *
 * A process has one client, one endpoint and one segment that is bound to it at most. They are static, and exist from
 * gas_ex_open on, so that both interfaces share them. A team member (gex_TM_t) is
 *
 *      &gas_ex_all          the team of all ranks, whose ranks are those of the job
 *      another object       a team made by gex_TM_Split or gex_TM_Create
 *      an address, tagged   a pair of endpoints (gex_TM_Pair): ranks are those of the job
 *
 * Calls are checked as HEARTH_CHECK_ARGS says. A check that fails ends the job. */
#ifndef HEARTH_GAS_EX_H
#define HEARTH_GAS_EX_H

#include "base/compiler.h"
#include "gas/coll/coll.h"
#include "gas/memory/gas_number.h"
#include "gas/process/process.h"
#include "hearth/gasnet/gasnetex.h"

struct gasnetc_client {
    char name[64];
    gex_Flags_t flags;
    const void *cdata;
};

enum { EX_SEGMENT_MADE = 0x7365676d };
struct gasnetc_segment {
    uint32_t
        state; /* EX_SEGMENT_MADE: made by gex_Segment_Create; else the one of gex_Segment_Attach, or freed */
    bool is_own; /* the memory is the library's */
    void *addr;  /* these two only of one that was made */
    uintptr_t size;
    const void *cdata;
};

struct gasnetc_endpoint {
    _Alignas(8) const void *cdata;
    bool bound; /* to the segment */
};

enum { EX_MEMBER = 0x7465616d, EX_FREED = 0x66726565 };
struct gasnetc_member {
    uint32_t state; /* EX_MEMBER, or EX_FREED: detects handles that are not valid */
    gex_Flags_t flags;
    struct gasnet_team *team;
    const void *cdata;
    gex_Memvec_t scratch;
};

extern struct gasnetc_client gas_ex_client HIDDEN;
extern struct gasnetc_endpoint gas_ex_endpoint HIDDEN;
extern struct gasnetc_segment gas_ex_segment HIDDEN;
extern struct gasnetc_member gas_ex_all HIDDEN;
extern bool gas_ex_checks HIDDEN; /* HEARTH_CHECK_ARGS */

/* Creates the client, its endpoint and its team. Called once, when ranks and segments table exist. */
void gas_ex_open(const char *name, unsigned flags);
/* The segments were created. */
void gas_ex_bind(void);

/* ---- checks: ex_check.c ---- */

/* Hints on where memory is, which every put, get, message and atomic operation accepts. */
#define EX_SEGMENT_FLAGS                                                                                     \
    (GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |                          \
     GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND)
/* Flags of all puts and gets. */
#define EX_RMA_FLAGS                                                                                         \
    (GEX_FLAG_IMMEDIATE | GEX_FLAG_PEER_NEVER_SELF | GEX_FLAG_PEER_NEVER_NBRHD | EX_SEGMENT_FLAGS)

/* gas_fail if flags has others than these. */
void gas_ex_check_flags(const char *call, gex_Flags_t flags, gex_Flags_t allowed);
/* gas_fail unless lc_opt is the address of an event or one of these constants. */
enum { EX_NOW = 1, EX_DEFER = 2, EX_GROUP = 4, EX_EVENT = 8 };
void gas_ex_check_lc(const char *call, const gex_Event_t *lc_opt, unsigned allowed);
/* gas_fail unless the handle is one that the library has given. */
void gas_ex_check_client(const char *call, gex_Client_t client);
void gas_ex_check_ep(const char *call, gex_EP_t ep);
void gas_ex_check_segment(const char *call, gex_Segment_t segment);
void gas_ex_check_member(const char *call, gex_TM_t tm); /* a pair is not a member */

/* Ends the job, for a check that has logged its line, if any was allowed. */
_Noreturn void gas_ex_end(const char *call);

static inline void gas_ex_flags(const char *call, gex_Flags_t flags, gex_Flags_t allowed) {
    if (UNLIKELY((flags & ~allowed) != 0 && gas_ex_checks))
        gas_ex_check_flags(call, flags, allowed);
}

/* ---- ranks: ex_team.c ---- */

static inline bool gas_ex_is_pair(gex_TM_t tm) {
    return (uintptr_t)tm & 1;
}

/* The rank in the job. For the team of all ranks it is not checked whether the rank exists: gas_need does. */
gasnet_node_t gas_ex_rank_slow(const char *call, gex_TM_t tm, gex_Rank_t rank);
static inline gasnet_node_t gas_ex_rank(const char *call, gex_TM_t tm, gex_Rank_t rank) {
    return LIKELY(tm == &gas_ex_all) ? rank : gas_ex_rank_slow(call, tm, rank);
}
/* The same, and checks it. */
static inline gasnet_node_t gas_ex_checked_rank(const char *call, gex_TM_t tm, gex_Rank_t rank) {
    gasnet_node_t node = gas_ex_rank(call, tm, rank);
    gas_need(call, node);
    return node;
}

/* Where this process can access the segment of a rank by loads and stores; size 0: nowhere. */
gasnet_seginfo_t gas_ex_mapped(gasnet_node_t node);

/* ---- handlers: ex_endpoint.c ---- */

const gex_AM_Entry_t *gas_ex_entry(int index);
void gas_ex_endpoint_open(void);

/* ---- notification of peers: ex_peer.c ---- */

void gas_ex_peer_open(void);
/* Whether this thread's next call notifies its peer. */
bool gas_ex_peer_is_armed(void);
/* The call is complete: sends the notification, and disarms the thread. */
void gas_ex_peer_notify(gasnet_node_t node);

#endif
