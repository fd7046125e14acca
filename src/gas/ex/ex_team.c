/* ex_team.c: members of teams, and translation of ranks. */
#include "gas/ex/ex.h"

#include <stdlib.h>

#include "base/compiler.h"
#include "gas/am/am.h"

enum { SCRATCH_BYTES = 64 }; /* recommended: the least that a program can give, as none is used */

/* ---- ranks ---- */

gasnet_node_t gas_ex_rank_slow(const char *call, gex_TM_t tm, gex_Rank_t rank) {
    if (gas_ex_is_pair(tm))
        return rank;
    if (gas_ex_checks)
        gas_ex_check_member(call, tm);
    if (UNLIKELY(rank >= tm->team->size))
        gas_fail(call, "there is no rank %u in a team of %u", rank, tm->team->size);
    return tm->team->nodes[rank];
}

gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
    const char *call = "gex_TM_Pair";
    gas_ex_check_ep(call, local_ep);
    if (UNLIKELY(remote_ep_index != 0))
        gas_fail(call, "there is no endpoint %u: a process has one, with index 0", remote_ep_index);
    return (gex_TM_t)(void *)((char *)local_ep + 1);
}

gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
    return gas_ex_checked_rank("gex_TM_TranslateRankToJobrank", tm, rank);
}

gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
    const char *call = "gex_TM_TranslateJobrankToRank";
    gas_need(call, jobrank);
    if (tm == &gas_ex_all || gas_ex_is_pair(tm))
        return jobrank;
    gas_ex_check_member(call, tm);
    for (gex_Rank_t i = 0; i < tm->team->size; i++)
        if (tm->team->nodes[i] == jobrank)
            return i;
    return GEX_RANK_INVALID;
}

gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags) {
    const char *call = "gex_TM_TranslateRankToEP";
    gas_ex_flags(call, flags, 0);
    return (gex_EP_Location_t){.gex_rank = gas_ex_checked_rank(call, tm, rank)};
}

/* ---- queries ---- */

gex_Client_t gex_TM_QueryClient(gex_TM_t tm) {
    if (!gas_ex_is_pair(tm))
        gas_ex_check_member("gex_TM_QueryClient", tm);
    return &gas_ex_client;
}

gex_EP_t gex_TM_QueryEP(gex_TM_t tm) {
    if (!gas_ex_is_pair(tm))
        gas_ex_check_member("gex_TM_QueryEP", tm);
    return &gas_ex_endpoint;
}

gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) {
    gas_ex_check_member("gex_TM_QueryFlags", tm);
    return tm->flags;
}

gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) {
    gas_ex_check_member("gex_TM_QueryRank", tm);
    return tm->team->rank;
}

gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) {
    gas_ex_check_member("gex_TM_QuerySize", tm);
    return tm->team->size;
}

void gex_TM_SetCData(gex_TM_t tm, const void *val) {
    gas_ex_check_member("gex_TM_SetCData", tm);
    tm->cdata = val;
}

void *gex_TM_QueryCData(gex_TM_t tm) {
    gas_ex_check_member("gex_TM_QueryCData", tm);
    return (void *)tm->cdata;
}

/* ---- creation ---- */

static void scratch_check(const char *call, const char *address, size_t bytes) {
    const gasnet_seginfo_t *s = &gas_job.segments[gas_job.rank];
    uintptr_t offset = (uintptr_t)address - (uintptr_t)s->addr;
    if (bytes == 0 || offset > s->size || bytes > s->size - offset)
        gas_fail(call,
                 "%zu bytes of scratch space at %p do not lie in the segment of this process: give some, or "
                 "GEX_FLAG_TM_NO_SCRATCH",
                 bytes, (const void *)address);
}

static gex_TM_t member_new(const char *call, struct gasnet_team *team, gex_Flags_t flags) {
    gex_TM_t tm = malloc(sizeof *tm);
    if (!tm)
        gas_fail(call, "no memory for a member of a team of %u", team->size);
    *tm = (struct gasnetc_member){.state = EX_MEMBER, .flags = flags, .team = team};
    return tm;
}

size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key, void *scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
    enum { NOBODY = -1, FIRST_KEY = (-0x7fffffff - 1) };
    const char *call = "gex_TM_Split";
    gas_need(call, 0);
    gas_need_free(call);
    gas_ex_check_member(call, parent_tm);
    gas_ex_flags(call, flags, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    if (new_tm_p && UNLIKELY(color < 0))
        gas_fail(call, "color %d is negative", color);
    if (flags & GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED)
        return new_tm_p ? SCRATCH_BYTES : 0;
    bool has_scratch = new_tm_p && !(flags & GEX_FLAG_TM_NO_SCRATCH);
    if (has_scratch && gas_ex_checks)
        scratch_check(call, scratch_addr, scratch_size);
    struct gasnet_team *team =
        gas_team_split(call, parent_tm->team, (gasnet_node_t)(new_tm_p ? color : NOBODY),
                       (gasnet_node_t)key - (gasnet_node_t)FIRST_KEY);
    if (!new_tm_p) {
        free(team); /* of those that join no team */
        return 0;
    }
    *new_tm_p = member_new(call, team, flags);
    if (has_scratch)
        (*new_tm_p)->scratch = (gex_Memvec_t){scratch_addr, scratch_size};
    return 0;
}

/* ---- creation from lists ---- */

#define SCRATCH_FLAGS                                                                                        \
    (GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_SYMMETRIC_SCRATCH |                \
     GEX_FLAG_TM_NO_SCRATCH)

static void create_check(const char *call, size_t num_new_tms, gex_EP_Location_t *args, size_t numargs,
                         gex_Flags_t flags) {
    gex_Flags_t scratch = flags & SCRATCH_FLAGS;
    gas_ex_flags(call, flags,
                 SCRATCH_FLAGS | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_RANK_IS_JOBRANK);
    if (UNLIKELY(scratch == 0 || (scratch & (scratch - 1))))
        gas_fail(call,
                 "flags 0x%x: one of GEX_FLAG_TM_GLOBAL_SCRATCH, LOCAL_SCRATCH, SYMMETRIC_SCRATCH and "
                 "NO_SCRATCH is needed",
                 flags);
    if (UNLIKELY(num_new_tms != (numargs > 0)))
        gas_fail(call, "%zu new teams of %zu members: there is one, unless it has no members", num_new_tms,
                 numargs);
    for (size_t i = 0; i < numargs; i++)
        if (UNLIKELY(args[i].gex_ep_index != 0))
            gas_fail(call, "member %zu is endpoint %u: a process has one, with index 0", i,
                     args[i].gex_ep_index);
}

static gasnet_node_t create_member(const char *call, gex_TM_t parent, const gex_EP_Location_t *at,
                                   gex_Flags_t flags) {
    if (!(flags & GEX_FLAG_RANK_IS_JOBRANK))
        return gas_ex_checked_rank(call, parent, at->gex_rank);
    gas_need(call, at->gex_rank);
    return at->gex_rank;
}

/* The position of this process in the list. */
static gasnet_node_t create_position(const char *call, gex_TM_t parent, const gex_EP_Location_t *args,
                                     size_t numargs, gex_Flags_t flags) {
    for (size_t i = 0; i < numargs; i++)
        if ((int)create_member(call, parent, &args[i], flags) == gas_job.rank)
            return (gasnet_node_t)i;
    gas_fail(call, "this process is not in the list of %zu members that it gives", numargs);
}

/* The first member and the position are color and key of a split. Members that have given different lists find that the team
 * is not the one of their list. */
static struct gasnet_team *create_split(const char *call, gex_TM_t parent, const gex_EP_Location_t *args,
                                        size_t numargs, gex_Flags_t flags) {
    enum { NOBODY = -1 };
    if (numargs == 0)
        return gas_team_split(call, parent->team, (gasnet_node_t)NOBODY, 0);
    gasnet_node_t position = create_position(call, parent, args, numargs, flags);
    struct gasnet_team *team =
        gas_team_split(call, parent->team, create_member(call, parent, &args[0], flags), position);
    bool same = team->size == numargs;
    for (size_t i = 0; same && i < numargs; i++)
        same = team->nodes[i] == create_member(call, parent, &args[i], flags);
    if (UNLIKELY(!same))
        gas_fail(call, "the %zu members have given different lists, or one that names a member twice",
                 numargs);
    return team;
}

size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t *args,
                     size_t numargs, gex_Addr_t *scratch_addrs, size_t scratch_size, gex_Flags_t flags) {
    const char *call = "gex_TM_Create";
    gas_need(call, 0);
    gas_need_free(call);
    gas_ex_check_member(call, parent_tm);
    create_check(call, num_new_tms, args, numargs, flags);
    if (flags & GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED)
        return numargs > 0 ? SCRATCH_BYTES : 0;
    struct gasnet_team *team = create_split(call, parent_tm, args, numargs, flags);
    if (numargs == 0) {
        free(team); /* of those that join no team */
        return 0;
    }
    *new_tms = member_new(call, team, flags);
    if (!(flags & GEX_FLAG_TM_NO_SCRATCH)) {
        void *address = scratch_addrs[flags & GEX_FLAG_TM_GLOBAL_SCRATCH ? team->rank : 0];
        if (gas_ex_checks)
            scratch_check(call, address, scratch_size);
        (*new_tms)->scratch = (gex_Memvec_t){address, scratch_size};
    }
    return 0;
}

/* ---- the end ---- */

int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags) {
    const char *call = "gex_TM_Destroy";
    gas_need(call, 0);
    gas_need_free(call);
    gas_ex_check_member(call, tm);
    gas_ex_flags(call, flags, GEX_FLAG_GLOBALLY_QUIESCED);
    if (UNLIKELY(tm == &gas_ex_all))
        gas_fail(call, "the team of all processes cannot be destroyed");
    if (!(flags & GEX_FLAG_GLOBALLY_QUIESCED))
        gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    bool has_scratch = scratch_p && tm->scratch.gex_len > 0;
    if (has_scratch)
        *scratch_p = tm->scratch;
    free(tm->team);
    tm->state = EX_FREED;
    free(tm);
    return has_scratch;
}
