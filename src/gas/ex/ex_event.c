/* ex_event.c: events and implicit operations. An event is a handle of GASNet-1, or a leaf of one (gas_leaf.h). A source of a
 * message is free when its call returns, so nothing is ever under way in the category GEX_EC_AM. */
#include "gas/ex/ex.h"

#include "base/compiler.h"
#include "gas/memory/ask.h"
#include "gas/rma/gas_leaf.h"
#include "gas/rma/gas_sync.h"

static void event_check(const char *call, gex_Event_t event) {
    if (UNLIKELY(event == GEX_EVENT_NO_OP))
        gas_fail(call, "GEX_EVENT_NO_OP is not an event: nothing was started");
}

static void events_check(const char *call, const gex_Event_t *events, size_t count, gex_Flags_t flags) {
    gas_ex_flags(call, flags, 0);
    for (size_t i = 0; gas_ex_checks && i < count; i++)
        event_check(call, events[i]);
}

/* ---- events ---- */

int gex_Event_Test(gex_Event_t event) {
    event_check("gex_Event_Test", event);
    return gas_sync_try("gex_Event_Test", event, false);
}

void gex_Event_Wait(gex_Event_t event) {
    event_check("gex_Event_Wait", event);
    gas_sync_wait("gex_Event_Wait", event, true);
}

int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
    events_check("gex_Event_TestSome", pevent, numevents, flags);
    return gas_sync_try_some("gex_Event_TestSome", pevent, numevents, false);
}

void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
    events_check("gex_Event_WaitSome", pevent, numevents, flags);
    gas_sync_wait_some("gex_Event_WaitSome", pevent, numevents, true);
}

int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
    events_check("gex_Event_TestAll", pevent, numevents, flags);
    return gas_sync_try_all("gex_Event_TestAll", pevent, numevents, false);
}

void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags) {
    events_check("gex_Event_WaitAll", pevent, numevents, flags);
    gas_sync_wait_all("gex_Event_WaitAll", pevent, numevents, true);
}

static enum leaf_tag tag_of(const char *call, gex_EC_t category) {
    switch (category) {
    case GEX_EC_LC:
        return LEAF_SOURCE;
    case GEX_EC_GET:
        return LEAF_GETS;
    case GEX_EC_PUT:
        return LEAF_PUTS;
    case GEX_EC_RMW:
        return LEAF_RMWS;
    case GEX_EC_AM:
        return LEAF_NONE;
    default:
        gas_fail(call, "0x%x is not one category of events", category);
    }
}

gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
    const char *call = "gex_Event_QueryLeaf";
    enum leaf_tag tag = tag_of(call, event_category);
    event_check(call, root);
    if (UNLIKELY(gas_leaf_tag(root) != LEAF_NONE))
        gas_fail(call, "the event is a leaf, not a root");
    return tag == LEAF_NONE ? GEX_EVENT_INVALID : gas_leaf_of(root, tag);
}

/* ---- implicit operations ---- */

static struct gas_thread *nbi_begin(const char *call, gex_EC_t mask, gex_Flags_t flags) {
    gas_ex_flags(call, flags, 0);
    if (UNLIKELY(mask & ~GEX_EC_ALL))
        gas_fail(call, "0x%x has no category of events", mask & ~GEX_EC_ALL);
    return gas_region_none(call);
}

/* The category is complete, and its operations are freed. */
static bool nbi_is_complete(struct gas_thread *t, gex_EC_t mask) {
    bool gets = !(mask & GEX_EC_GET) || gas_operations_try(t, &t->gets);
    bool puts = !(mask & GEX_EC_PUT) || gas_operations_try(t, &t->puts);
    bool rmws = !(mask & GEX_EC_RMW) || gas_operations_try(t, &t->rmws);
    bool sources = !(mask & GEX_EC_LC) || gas_leaf_list_is_complete(&t->puts, LEAF_SOURCE);
    return gets && puts && rmws && sources;
}

int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags) {
    struct gas_thread *t = nbi_begin("gex_NBI_Test", event_mask, flags);
    gas_ask_progress();
    return nbi_is_complete(t, event_mask) ? GASNET_OK : gas_operation_not_ready();
}

/* Sources last: a put that has completed has left. */
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags) {
    struct gas_thread *t = nbi_begin("gex_NBI_Wait", event_mask, flags);
    unsigned round = 0;
    gas_poll();
    if (event_mask & GEX_EC_GET)
        gas_operations_finish(t, &t->gets, true);
    if (event_mask & GEX_EC_PUT)
        gas_operations_finish(t, &t->puts, true);
    if (event_mask & GEX_EC_RMW)
        gas_operations_finish(t, &t->rmws, true);
    while ((event_mask & GEX_EC_LC) && !gas_leaf_list_is_complete(&t->puts, LEAF_SOURCE))
        if (gas_poll())
            round = 0;
        else
            gas_poll_rest(&round);
}

void gex_NBI_BeginAccessRegion(gex_Flags_t flags) {
    gas_ex_flags("gex_NBI_BeginAccessRegion", flags, 0);
    gas_region_begin("gex_NBI_BeginAccessRegion");
}

gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
    gas_ex_flags("gex_NBI_EndAccessRegion", flags, 0);
    return gas_region_end("gex_NBI_EndAccessRegion");
}
