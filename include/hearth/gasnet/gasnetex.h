/* gasnetex.h: the GASNet-EX interface (specification 0.14) of vGASNet: clients, endpoints, segments, teams, events,
 * puts and gets. Active messages, atomic operations, non-contiguous memory and collective operations are in the headers
 * that it includes: gasnetex_am.h, gasnet_ratomic.h, gasnetex_vis.h and gasnetex_coll.h.
 *
 * The program defines one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR before it includes this header. The library is
 * the same for all three, and any thread may call it at any time. A program may use both interfaces: this header and
 * gasnet.h include each other, and the objects of a job that was begun by gasnet_init are found by
 * gasnet_QueryGexObjects. For C and C++; may be included inside extern "C".
 *
 * An invalid argument, such as a rank that is not in the team, ends the job with a line that names the call.
 * HEARTH_CHECK_ARGS=off omits those checks that the call does not need for itself. */
#ifndef GASNETEX_H
#define GASNETEX_H

#include "gasnet.h"
#include "gasnet_fwd.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- constants and types; the others are in gasnet_fwd.h ---- */

/* The version of the specification of GASNet-EX. */
#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 14

#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 0 /* handlers run only in threads of the program that poll */
#define GASNET_MAXEPS                      1 /* endpoints of a client in a process */

typedef struct gasnetc_client *gex_Client_t;
typedef struct gasnetc_endpoint *gex_EP_t;
typedef struct gasnetc_segment *gex_Segment_t;
typedef struct gasnetc_member *gex_TM_t; /* a member of a team, or a pair of endpoints: gex_TM_Pair */
#define GEX_CLIENT_INVALID  ((gex_Client_t)0)
#define GEX_EP_INVALID      ((gex_EP_t)0)
#define GEX_SEGMENT_INVALID ((gex_Segment_t)0)
#define GEX_TM_INVALID      ((gex_TM_t)0)

/* A kind of memory: all segments are in the memory of the host. gasnet_mk.h has calls for other kinds. */
typedef struct gasnetc_memory_kind *gex_MK_t;
#define GEX_MK_INVALID ((gex_MK_t)0)
#define GEX_MK_HOST    ((gex_MK_t)(uintptr_t)1)

typedef void *gex_Addr_t;
typedef struct gasnetc_memvec {
    void *gex_addr;
    size_t gex_len;
} gex_Memvec_t; /* the same in memory as gasnet_memvec_t */

typedef gasnet_register_value_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T SIZEOF_GASNET_REGISTER_VALUE_T

/* Categories of events. */
typedef uint32_t gex_EC_t;
#define GEX_EC_GET ((gex_EC_t)1)
#define GEX_EC_PUT ((gex_EC_t)2)
#define GEX_EC_AM  ((gex_EC_t)4)
#define GEX_EC_LC  ((gex_EC_t)8) /* the sources of puts may be changed */
#define GEX_EC_RMW ((gex_EC_t)16)
#define GEX_EC_ALL ((gex_EC_t)31)

/* ---- the job ---- */

/* Joins the job and creates the client, its endpoint and the team of all processes. Collective; the first call of
 * GASNet, unless gasnet_init is. argc and argv may be NULL. flags: GEX_FLAG_USES_GASNET1, and GEX_FLAG_DEFER_THREADS,
 * which has no effect: gex_System_QueryProgressThreads reports no threads to be started. Active messages,
 * barriers and other collective operations may be used from then on; puts and gets after gex_Segment_Attach. Returns
 * GASNET_OK, or an error code after a line. */
int gex_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *clientName, int *argc,
                    char ***argv, gex_Flags_t flags);

/* The objects of the job, however it was begun: any pointer may be NULL. The segment is GEX_SEGMENT_INVALID while there
 * is none. After gasnet_attach or gex_Client_Init. */
void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, gex_Segment_t *segment_p);

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client); /* as given to gex_Client_Init */
const char *gex_Client_QueryName(gex_Client_t client);  /* as given to gex_Client_Init */

/* A pointer of the program with each object; NULL in a new one. */
void gex_Client_SetCData(gex_Client_t client, const void *val);
void *gex_Client_QueryCData(gex_Client_t client);
void gex_Segment_SetCData(gex_Segment_t seg, const void *val);
void *gex_Segment_QueryCData(gex_Segment_t seg);
void gex_EP_SetCData(gex_EP_t ep, const void *val);
void *gex_EP_QueryCData(gex_EP_t ep);
void gex_TM_SetCData(gex_TM_t tm, const void *val);
void *gex_TM_QueryCData(gex_TM_t tm);

gex_Rank_t gex_System_QueryJobRank(void); /* the same as gasnet_mynode */
gex_Rank_t gex_System_QueryJobSize(void); /* the same as gasnet_nodes */

/* Whether calls that return an error code print a line: 1, the default, or 0. */
int gex_System_GetVerboseErrors(void);
void gex_System_SetVerboseErrors(int enable);

/* The number of threads of this process that may make calls at the same time: more than a process has, in all modes. */
uint64_t gex_System_QueryMaxThreads(void);

/* A thread that the program would start for the library. */
#define GEX_THREAD_ROLE_RCV 1u
#define GEX_THREAD_ROLE_SND 2u
typedef struct gasnetc_progress_thread {
    unsigned int gex_thread_roles; /* GEX_THREAD_ROLE_* */
    const char *gex_device_list;
    void *(*gex_progress_fn)(void *arg);
    void *gex_progress_arg;
} gex_ProgressThreadInfo_t;

/* The threads that the program is to start after gex_Client_Init with GEX_FLAG_DEFER_THREADS: *count_p becomes 0. The
 * library's own thread serves other nodes from the start. flags must be 0. Returns GASNET_OK. */
int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p,
                                    const gex_ProgressThreadInfo_t **info_p, gex_Flags_t flags);

typedef const struct gasnetc_rank_info { gex_Rank_t gex_jobrank; } gex_RankInfo_t;

/* The processes whose segments this one can access by loads and stores (its neighbourhood), and those on the same
 * machine (its host), this one included, in the order of their ranks. my_info_index_p: this process in the list. Any
 * pointer may be NULL. The list belongs to the library. With segments in pages a neighbourhood is one process; with
 * HEARTH_NVM=off it is a node. */
void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p,
                               gex_Rank_t *my_info_index_p);
void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p, gex_Rank_t *my_info_index_p);

/* The numbers of neighbourhoods and of hosts, and this process's position among them. Any pointer may be NULL. */
void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size, gex_Rank_t *nbrhd_set_rank,
                                gex_Rank_t *host_set_size, gex_Rank_t *host_set_rank);

/* ---- segments ---- */

/* Collective over the team of all processes, once: creates a segment of `size` bytes in each, a multiple of
 * GASNET_PAGESIZE and not 0, and binds it to the endpoint. Returns GASNET_OK, or an error code after a line, the same in
 * all processes. */
int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size);

/* A segment of `length` bytes of this process, at `address` or, if that is NULL, in new memory that is aligned to
 * GASNET_PAGESIZE. It is not bound to an endpoint, and gex_EP_BindSegment cannot bind it: other processes cannot access
 * it. kind must be GEX_MK_HOST, flags 0. Returns GASNET_OK, or an error code after a line. */
int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address, uintptr_t length,
                       gex_MK_t kind, gex_Flags_t flags);
/* Frees a segment of gex_Segment_Create, with its memory unless the program has given that. flags must be 0. Returns
 * GASNET_OK, or an error code after a line. */
int gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);

gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg); /* the client that it belongs to */
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);   /* 0: segments have no flags */
void *gex_Segment_QueryAddr(gex_Segment_t seg);          /* its first byte */
uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);      /* in bytes */

/* The segment of another endpoint: its address in that process, its address here if this process can load from it
 * (else NULL), and its size. Any pointer may be NULL. Returns 0, or nonzero and changes nothing if it has none. */
int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                           uintptr_t *size_p);
/* The same as an operation; here it is always complete on return. An endpoint without a segment has address NULL and
 * size 0. flags must be 0 or GEX_FLAG_IMMEDIATE. */
gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                                       uintptr_t *size_p, gex_Flags_t flags);

/* Collective over the team: makes the segments of these endpoints known to its members. gex_Segment_Attach has done so
 * already: it only checks its arguments and synchronises. Returns GASNET_OK. */
int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags);

/* ---- endpoints ---- */

typedef uint32_t gex_EP_Capabilities_t;
#define GEX_EP_CAPABILITY_RMA  ((gex_EP_Capabilities_t)1)
#define GEX_EP_CAPABILITY_AM   ((gex_EP_Capabilities_t)2)
#define GEX_EP_CAPABILITY_VIS  ((gex_EP_Capabilities_t)4)
#define GEX_EP_CAPABILITY_COLL ((gex_EP_Capabilities_t)8)
#define GEX_EP_CAPABILITY_AD   ((gex_EP_Capabilities_t)16)
#define GEX_EP_CAPABILITY_ALL  ((gex_EP_Capabilities_t)31)

/* A process has GASNET_MAXEPS endpoints, which gex_Client_Init has created: returns GASNET_ERR_RESOURCE after a line. */
int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities, gex_Flags_t flags);

/* Only gex_Segment_Attach can bind a segment to the endpoint of gex_Client_Init, which is the only one: returns
 * GASNET_ERR_BAD_ARG after a line. */
int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);

gex_Client_t gex_EP_QueryClient(gex_EP_t ep);   /* the client that it belongs to */
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);     /* 0 */
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep); /* or GEX_SEGMENT_INVALID */
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);  /* 0 */

/* ---- teams ---- */

gex_Client_t gex_TM_QueryClient(gex_TM_t tm); /* the client that it belongs to */
gex_EP_t gex_TM_QueryEP(gex_TM_t tm);         /* the endpoint of this member */
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);   /* as given when it was created */
gex_Rank_t gex_TM_QueryRank(gex_TM_t tm);     /* of this member */
gex_Rank_t gex_TM_QuerySize(gex_TM_t tm);     /* number of members */

/* Collective over parent_tm: members with the same color form a new team, in the order of `key`, then of their ranks.
 * A member that passes NULL for new_tm_p joins none. The library needs no scratch space; what is given is kept for
 * gex_TM_Destroy. With GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED the call creates nothing, and returns the size to give. */
size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key, void *scratch_addr,
                    size_t scratch_size, gex_Flags_t flags);

/* Collective over parent_tm: the members that pass the same list of locations form a new team, whose ranks are the
 * positions in the list. Ranks in the list are those of parent_tm, or of the job with GEX_FLAG_RANK_IS_JOBRANK; all
 * endpoints have index 0. num_new_tms is 1, and new_tms the address of the new team; a member that joins none passes 0
 * for both counts. scratch_addrs: one address with GEX_FLAG_TM_LOCAL_SCRATCH or _SYMMETRIC_SCRATCH, one for each member
 * with _GLOBAL_SCRATCH, none with GEX_FLAG_TM_NO_SCRATCH; one of them is required. The rest is as in gex_TM_Split. */
size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t *args,
                     size_t numargs, gex_Addr_t *scratch_addrs, size_t scratch_size, gex_Flags_t flags);

/* Collective over the team: frees it. Waits for all members, unless flags has GEX_FLAG_GLOBALLY_QUIESCED. Returns 1 and
 * sets *scratch_p if the team had scratch space and scratch_p is not NULL; else 0. */
int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags);

/* Names an endpoint by its rank in the job, in calls that take a tm and a rank and are not collective. It needs no
 * team, and no call frees it. remote_ep_index must be 0. */
gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);

/* Ranks in the job and in a team. GEX_RANK_INVALID: that process is not in the team. */
gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags);

/* ---- puts and gets ---- */

/* [dest, dest + nbytes) of a put, and [src, src + nbytes) of a get, must lie entirely in the segment of the endpoint
 * that tm and rank name; local memory may be anywhere. No alignment is required, and nbytes 0 does nothing. Blocking
 * calls are complete on return. NB: the event is synchronised. NBI: gex_NBI_Wait. lc_opt: when the source may be changed:
 * GEX_EVENT_NOW, GEX_EVENT_DEFER, for NBI GEX_EVENT_GROUP, for NB the address of an event. flags: GEX_FLAG_IMMEDIATE
 * and GEX_FLAG_PEER_NEVER_*, which have no effect: all return 0, or an event other than GEX_EVENT_NO_OP. */
int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                        gex_Flags_t flags);
int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                   gex_Event_t *lc_opt, gex_Flags_t flags);
gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes,
                          gex_Event_t *lc_opt, gex_Flags_t flags) GASNET_MUST_USE;
int gex_RMA_GetBlocking(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                        gex_Flags_t flags);
int gex_RMA_GetNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags);
gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes,
                          gex_Flags_t flags) GASNET_MUST_USE;

/* The same for a value of 1 to SIZEOF_GEX_RMA_VALUE_T bytes, zero-extended when it is read. */
gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes,
                                       gex_Flags_t flags);
int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                           gex_Flags_t flags);
int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                      gex_Flags_t flags);
gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                             gex_Flags_t flags) GASNET_MUST_USE;

/* ---- events ---- */

/* Wait returns when the event is complete, and polls meanwhile. Test does not poll, and returns 0 if it is complete.
 * Either then ends the event, and a root event ends its leaves. */
int gex_Event_Test(gex_Event_t event);
void gex_Event_Wait(gex_Event_t event);

/* The same for lists: at least one of them is complete, or none was valid (Some); all are (All). Complete events become
 * GEX_EVENT_INVALID, and those are ignored. flags must be 0. */
int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);

/* The leaf of an operation or access region for one category: GEX_EC_LC, or for an access region also GEX_EC_GET, PUT,
 * RMW and AM. May be synchronised before its root, and is GEX_EVENT_INVALID if it is complete. */
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);

/* All implicit operations (NBI) of this thread in these categories. Test does not poll, and returns 0 if all are
 * complete; Wait polls until then. flags must be 0. */
int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);

/* Between the two calls, the implicit operations of this thread belong to the region, whose event is returned. Regions
 * do not nest. flags must be 0. */
void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) GASNET_MUST_USE;

/* ---- handler-safe locks ---- */

typedef gasnet_hsl_t gex_HSL_t;
#define GEX_HSL_INITIALIZER GASNET_HSL_INITIALIZER

/* The same as gasnet_hsl_init and so on. Trylock returns GASNET_OK or GASNET_ERR_NOT_READY. */
void gex_HSL_Init(gex_HSL_t *hsl);
void gex_HSL_Destroy(gex_HSL_t *hsl);
void gex_HSL_Lock(gex_HSL_t *hsl);
void gex_HSL_Unlock(gex_HSL_t *hsl);
int gex_HSL_Trylock(gex_HSL_t *hsl);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#include "gasnetex_am.h"
#include "gasnet_ratomic.h"
#include "gasnetex_vis.h"
#include "gasnetex_coll.h"

#endif
