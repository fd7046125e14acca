/* ex_client.c: the client, and what every job has of GASNet-EX. */
#include "gas/ex/ex.h"

#include <stdio.h>

#include "base/settings.h"
#include "gas/am/am.h"

struct gasnetc_client gas_ex_client;
struct gasnetc_endpoint gas_ex_endpoint;
struct gasnetc_segment gas_ex_segment;
struct gasnetc_member gas_ex_all;

void gas_ex_open(const char *name, unsigned flags) {
    gas_ex_checks = settings_get()->check_args;
    snprintf(gas_ex_client.name, sizeof gas_ex_client.name, "%s", name);
    gas_ex_client.flags = flags;
    struct gasnet_team *team = gas_team_new("gex_Client_Init", (gasnet_node_t)gas_job.size);
    team->id = TEAM_EX;
    team->rank = (gasnet_node_t)gas_job.rank;
    for (gasnet_node_t i = 0; i < team->size; i++)
        team->nodes[i] = i;
    gas_ex_all = (struct gasnetc_member){.state = EX_MEMBER, .team = team};
    gas_ex_endpoint_open();
    gas_ex_peer_open();
}

void gas_ex_bind(void) {
    gas_ex_endpoint.bound = true;
}

void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p,
                            gex_Segment_t *segment_p) {
    gas_need("gasnet_QueryGexObjects", 0);
    if (client_p)
        *client_p = &gas_ex_client;
    if (ep_p)
        *ep_p = &gas_ex_endpoint;
    if (tm_p)
        *tm_p = &gas_ex_all;
    if (segment_p)
        *segment_p = gas_ex_endpoint.bound ? &gas_ex_segment : GEX_SEGMENT_INVALID;
}

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) {
    gas_ex_check_client("gex_Client_QueryFlags", client);
    return client->flags;
}

const char *gex_Client_QueryName(gex_Client_t client) {
    gas_ex_check_client("gex_Client_QueryName", client);
    return client->name;
}

void gex_Client_SetCData(gex_Client_t client, const void *val) {
    gas_ex_check_client("gex_Client_SetCData", client);
    client->cdata = val;
}

void *gex_Client_QueryCData(gex_Client_t client) {
    gas_ex_check_client("gex_Client_QueryCData", client);
    return (void *)client->cdata;
}
