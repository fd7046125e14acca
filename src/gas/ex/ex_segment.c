/* ex_segment.c: the segments of this process, and queries about those of others. */
#include "gas/ex/ex.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "gas/am/am.h"

static int segment_check(const char *call, gex_Segment_t *segment_p, uintptr_t length, gex_MK_t kind,
                         gex_Flags_t flags) {
    if (flags != 0)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "flags 0x%x: there are none", flags);
    if (kind != GEX_MK_HOST)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "the kind of memory is not GEX_MK_HOST, the only one");
    if (!segment_p || length == 0)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "a segment of %zu bytes at %p", (size_t)length,
                          (void *)segment_p);
    return GASNET_OK;
}

/* NULL: there is none. A mapping, because only that refuses any size without ending the program under a sanitizer. */
static void *segment_memory(uintptr_t length) {
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address, uintptr_t length,
                       gex_MK_t kind, gex_Flags_t flags) {
    const char *call = "gex_Segment_Create";
    gas_ex_check_client(call, client);
    int status = segment_check(call, segment_p, length, kind, flags);
    if (status != GASNET_OK)
        return status;
    struct gasnetc_segment made = {
        .state = EX_SEGMENT_MADE, .is_own = !address, .addr = address, .size = length};
    gex_Segment_t segment = malloc(sizeof *segment);
    if (!segment || (made.is_own && !(made.addr = segment_memory(length)))) {
        free(segment);
        return gas_refuse(GASNET_ERR_RESOURCE, call, "no memory for a segment of %zu bytes", (size_t)length);
    }
    *segment = made;
    *segment_p = segment;
    return GASNET_OK;
}

int gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
    const char *call = "gex_Segment_Destroy";
    gas_ex_check_segment(call, segment);
    if (flags != 0)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "flags 0x%x: there are none", flags);
    if (segment == &gas_ex_segment)
        return gas_refuse(GASNET_ERR_BAD_ARG, call,
                          "the segment of gex_Segment_Attach is bound to the endpoint until the job ends");
    if (segment->is_own)
        munmap(segment->addr, segment->size);
    segment->state = 0;
    free(segment);
    return GASNET_OK;
}

gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg) {
    gas_ex_check_segment("gex_Segment_QueryClient", seg);
    return &gas_ex_client;
}

gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg) {
    gas_ex_check_segment("gex_Segment_QueryFlags", seg);
    return 0;
}

void *gex_Segment_QueryAddr(gex_Segment_t seg) {
    gas_ex_check_segment("gex_Segment_QueryAddr", seg);
    return seg == &gas_ex_segment ? gas_job.segments[gas_job.rank].addr : seg->addr;
}

uintptr_t gex_Segment_QuerySize(gex_Segment_t seg) {
    gas_ex_check_segment("gex_Segment_QuerySize", seg);
    return seg == &gas_ex_segment ? gas_job.segments[gas_job.rank].size : seg->size;
}

void gex_Segment_SetCData(gex_Segment_t seg, const void *val) {
    gas_ex_check_segment("gex_Segment_SetCData", seg);
    seg->cdata = val;
}

void *gex_Segment_QueryCData(gex_Segment_t seg) {
    gas_ex_check_segment("gex_Segment_QueryCData", seg);
    return (void *)seg->cdata;
}

/* ---- segments of other processes ---- */

gasnet_seginfo_t gas_ex_mapped(gasnet_node_t node) {
    if ((int)node == gas_job.rank)
        return gas_job.segments[node];
    gasnet_node_t at = node - gas_job.direct_first;
    return at < gas_job.direct_count ? gas_job.direct[at] : (gasnet_seginfo_t){0};
}

static void segment_describe(gasnet_node_t node, void **owneraddr_p, void **localaddr_p, uintptr_t *size_p) {
    if (owneraddr_p)
        *owneraddr_p = gas_job.segments[node].addr;
    if (localaddr_p)
        *localaddr_p = gas_ex_mapped(node).addr;
    if (size_p)
        *size_p = gas_job.segments[node].size;
}

int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                           uintptr_t *size_p) {
    gasnet_node_t node = gas_ex_checked_rank("gex_Segment_QueryBound", tm, rank);
    if (gas_job.segments[node].size == 0)
        return 1;
    segment_describe(node, owneraddr_p, localaddr_p, size_p);
    return 0;
}

gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                                       uintptr_t *size_p, gex_Flags_t flags) {
    const char *call = "gex_EP_QueryBoundSegmentNB";
    gas_ex_flags(call, flags, GEX_FLAG_IMMEDIATE);
    segment_describe(gas_ex_checked_rank(call, tm, rank), owneraddr_p, localaddr_p, size_p);
    return GEX_EVENT_INVALID;
}

int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags) {
    const char *call = "gex_EP_PublishBoundSegment";
    gas_ex_flags(call, flags, 0);
    gas_ex_check_member(call, tm);
    for (size_t i = 0; i < num_eps; i++)
        gas_ex_check_ep(call, eps[i]);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    return GASNET_OK;
}
