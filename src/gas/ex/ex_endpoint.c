/* ex_endpoint.c: the endpoint of this process, its handlers, and the refusal of further endpoints and of kinds of memory. */
#include "gas/ex/ex.h"

#include "gas/am/am.h"
#include "hearth/gasnet/gasnet_mk.h"

static gex_AM_Entry_t entries[AM_LAST + 1]; /* by index; an entry is written before its handler can run */

const gex_AM_Entry_t *gas_ex_entry(int index) {
    return &entries[index];
}

/* Handlers that gasnet_attach has registered. */
void gas_ex_endpoint_open(void) {
    for (int i = AM_FIRST; i <= AM_LAST; i++)
        if (gas_am_registered(i))
            entries[i] = (gex_AM_Entry_t){.gex_index = (gex_AM_Index_t)i,
                                          .gex_fnptr = (gex_AM_Fn_t)gas_am_registered(i)};
}

int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                  gex_Flags_t flags) {
    const char *call = "gex_EP_Create";
    gas_ex_check_client(call, client);
    if (!ep_p || (capabilities & ~GEX_EP_CAPABILITY_ALL) || (flags & ~GEX_FLAG_HINT_ACCEL_ALL))
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "ep_p %p, capabilities 0x%x, flags 0x%x", (void *)ep_p,
                          capabilities, flags);
    return gas_refuse(GASNET_ERR_RESOURCE, call, "a process has %d endpoint (GASNET_MAXEPS), which exists",
                      GASNET_MAXEPS);
}

int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
    const char *call = "gex_EP_BindSegment";
    gas_ex_check_ep(call, ep);
    gas_ex_check_segment(call, segment);
    gas_ex_flags(call, flags, 0);
    return gas_refuse(GASNET_ERR_BAD_ARG, call,
                      "only gex_Segment_Attach binds a segment to the endpoint of gex_Client_Init");
}

int gex_MK_Create(gex_MK_t *memkind_p, gex_Client_t client, const gex_MK_Create_args_t *args,
                  gex_Flags_t flags) {
    const char *call = "gex_MK_Create";
    gas_ex_check_client(call, client);
    if (!memkind_p || !args || flags != 0)
        return gas_refuse(GASNET_ERR_BAD_ARG, call, "memkind_p %p, args %p, flags 0x%x", (void *)memkind_p,
                          (const void *)args, flags);
    return gas_refuse(GASNET_ERR_BAD_ARG, call,
                      "memory of class %d is not supported: only GEX_MK_HOST, which exists",
                      (int)args->gex_class);
}

void gex_MK_Destroy(gex_MK_t memkind, gex_Flags_t flags) {
    (void)flags;
    gas_fail("gex_MK_Destroy", "%p is not a kind of memory that was created", (void *)memkind);
}

gex_Client_t gex_EP_QueryClient(gex_EP_t ep) {
    gas_ex_check_ep("gex_EP_QueryClient", ep);
    return &gas_ex_client;
}

gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) {
    gas_ex_check_ep("gex_EP_QueryFlags", ep);
    return 0;
}

gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) {
    gas_ex_check_ep("gex_EP_QuerySegment", ep);
    return ep->bound ? &gas_ex_segment : GEX_SEGMENT_INVALID;
}

gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) {
    gas_ex_check_ep("gex_EP_QueryIndex", ep);
    return 0;
}

void gex_EP_SetCData(gex_EP_t ep, const void *val) {
    gas_ex_check_ep("gex_EP_SetCData", ep);
    ep->cdata = val;
}

void *gex_EP_QueryCData(gex_EP_t ep) {
    gas_ex_check_ep("gex_EP_QueryCData", ep);
    return (void *)ep->cdata;
}

/* ---- handlers ---- */

static const char register_call[] = "gex_EP_RegisterHandlers";

static int entry_check(const gex_AM_Entry_t *e, size_t number) {
    gex_Flags_t kinds = e->gex_flags & (GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDLONG);
    const char *name = e->gex_name ? e->gex_name : "without a name";
    if (!e->gex_fnptr)
        return gas_refuse(GASNET_ERR_BAD_ARG, register_call, "entry %zu (%s) has no function", number, name);
    if (e->gex_index != 0 && e->gex_index < GEX_AM_INDEX_BASE)
        return gas_refuse(GASNET_ERR_BAD_ARG, register_call,
                          "entry %zu (%s) has index %d: indices of the program are %d to 255", number, name,
                          e->gex_index, GEX_AM_INDEX_BASE);
    if (e->gex_nargs > AM_ARGS)
        return gas_refuse(GASNET_ERR_BAD_ARG, register_call,
                          "entry %zu (%s) has %u arguments: the maximum is %d", number, name, e->gex_nargs,
                          AM_ARGS);
    if ((kinds != GEX_FLAG_AM_SHORT && (kinds & GEX_FLAG_AM_SHORT)) || kinds == 0 ||
        !(e->gex_flags & GEX_FLAG_AM_REQREP) || e->gex_flags > (GEX_FLAG_AM_REQREP | GEX_FLAG_AM_MEDLONG))
        return gas_refuse(
            GASNET_ERR_BAD_ARG, register_call,
            "entry %zu (%s) has flags 0x%x: one of GEX_FLAG_AM_SHORT, MEDIUM, LONG and MEDLONG and "
            "one of GEX_FLAG_AM_REQUEST, REPLY and REQREP are needed",
            number, name, e->gex_flags);
    return GASNET_OK;
}

static void entry_set(const gex_AM_Entry_t *e) {
    entries[e->gex_index] = *e;
    gas_am_expect(e->gex_index, e->gex_nargs, e->gex_flags);
    gas_am_register(e->gex_index, (am_handler *)e->gex_fnptr);
}

static int entry_set_fixed(const gex_AM_Entry_t *e, size_t number) {
    if (gas_am_registered(e->gex_index))
        return gas_refuse(GASNET_ERR_BAD_ARG, register_call,
                          "entry %zu has index %d, which another handler has", number, e->gex_index);
    entry_set(e);
    return GASNET_OK;
}

/* The highest index that is free. */
static int entry_assign(gex_AM_Entry_t *e) {
    int index = AM_LAST;
    while (index >= GEX_AM_INDEX_BASE && gas_am_registered(index))
        index--;
    if (index < GEX_AM_INDEX_BASE)
        return gas_refuse(GASNET_ERR_BAD_ARG, register_call, "more than %d handlers",
                          AM_LAST - GEX_AM_INDEX_BASE + 1);
    e->gex_index = (gex_AM_Index_t)index;
    entry_set(e);
    return GASNET_OK;
}

int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries) {
    int status = GASNET_OK;
    gas_need(register_call, 0);
    gas_ex_check_ep(register_call, ep);
    for (size_t i = 0; i < numentries && status == GASNET_OK; i++) {
        status = entry_check(&table[i], i);
        if (status == GASNET_OK && table[i].gex_index != 0)
            status = entry_set_fixed(&table[i], i);
    }
    for (size_t i = 0; i < numentries && status == GASNET_OK; i++)
        if (table[i].gex_index == 0)
            status = entry_assign(&table[i]);
    return status;
}
