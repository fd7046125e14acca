/* ex_check.c: checks of arguments of GASNet-EX that are not needed for the call itself. HEARTH_CHECK_ARGS=off omits them. */
#include "base/job_end.h"
#include "gas/ex/ex.h"

#include <stdlib.h>

#include "base/compiler.h"

bool gas_ex_checks = true;

void gas_ex_check_flags(const char *call, gex_Flags_t flags, gex_Flags_t allowed) {
    gas_fail(call, "flags 0x%x: the call has no flags 0x%x", flags, flags & ~allowed);
}

void gas_ex_check_lc(const char *call, const gex_Event_t *lc_opt, unsigned allowed) {
    unsigned given = lc_opt == GEX_EVENT_NOW     ? EX_NOW
                     : lc_opt == GEX_EVENT_DEFER ? EX_DEFER
                     : lc_opt == GEX_EVENT_GROUP ? EX_GROUP
                     : lc_opt                    ? EX_EVENT
                                                 : 0;
    if (UNLIKELY(!(given & allowed)))
        gas_fail(call, "lc_opt %s is not allowed here",
                 given == EX_NOW     ? "GEX_EVENT_NOW"
                 : given == EX_DEFER ? "GEX_EVENT_DEFER"
                 : given == EX_GROUP ? "GEX_EVENT_GROUP"
                 : given             ? "with the address of an event"
                                     : "NULL");
}

void gas_ex_check_client(const char *call, gex_Client_t client) {
    if (UNLIKELY(client != &gas_ex_client))
        gas_fail(call, "%p is not a client of this process", (void *)client);
}

void gas_ex_check_ep(const char *call, gex_EP_t ep) {
    if (UNLIKELY(ep != &gas_ex_endpoint))
        gas_fail(call, "%p is not an endpoint of this process", (void *)ep);
}

void gas_ex_check_segment(const char *call, gex_Segment_t segment) {
    if (segment && segment != &gas_ex_segment && segment->state == EX_SEGMENT_MADE)
        return;
    if (UNLIKELY(segment != &gas_ex_segment))
        gas_fail(call, "%p is not a segment of this process", (void *)segment);
    if (UNLIKELY(!gas_ex_endpoint.bound))
        gas_fail(call, "there is no segment: call gex_Segment_Attach first");
}

void gas_ex_check_member(const char *call, gex_TM_t tm) {
    if (UNLIKELY(!tm))
        gas_fail(call, "the team is GEX_TM_INVALID");
    if (UNLIKELY(gas_ex_is_pair(tm)))
        gas_fail(call, "the team is a pair of endpoints (gex_TM_Pair): only calls with a rank take one");
    if (UNLIKELY(tm->state != EX_MEMBER))
        gas_fail(call, "%p is not a team, or no longer one", (void *)tm);
}

void gas_ex_end(const char *call) {
    if (!atomic_load(&gas_verbose)) /* the line was not logged */
        gas_fail(call, "an argument is invalid");
    job_end(EXIT_FAILURE);
}
