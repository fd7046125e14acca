/* ucx_open.c: opens a UCX context of our own, beside the one that MPI may have in the same process.
 *
 * User settings are respected: UCX_TLS, UCX_NET_DEVICES and all others, and HEARTH_UCX_TLS etc. where Hearth is to
 * differ from MPI. If they name no transports, the network transports that have a device here are used: InfiniBand
 * and similar (ib), Cray's (ugni), and TCP. Shared memory is never used: it cannot report failed peers, and messages
 * within a node do not pass through here. Nor are GPU transports, whose libraries would be started for nothing.
 *
 * A message is sent in one piece, and copied at most once on either side: over TCP, segments hold the largest
 * message, and there is no rendezvous. The receive buffer of a connection holds two messages and is released when it
 * is empty, so that memory is bounded by the clients in the middle of a message. The segment size of InfiniBand is
 * left alone: a receive queue has thousands of segments. There UCX assembles large messages. */
#include "net/ucx/ucx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uct/api/uct.h>

#include "base/compiler.h"
#include "base/log.h"

int net_ucx_code(ucs_status_t status) {
    switch (status) {
    case UCS_OK:
        return 0;
    case UCS_ERR_NO_MEMORY:
        return -ENOMEM;
    case UCS_ERR_EXCEEDS_LIMIT:
        return -EMSGSIZE;
    case UCS_ERR_INVALID_PARAM:
        return -EINVAL;
    case UCS_ERR_UNSUPPORTED:
    case UCS_ERR_NO_DEVICE:
        return -ENOTSUP;
    case UCS_ERR_ENDPOINT_TIMEOUT:
        return -ETIMEDOUT;
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_UNREACHABLE:
    case UCS_ERR_REJECTED:
    case UCS_ERR_CANCELED:
        return -ECONNRESET;
    default:
        return -EIO;
    }
}

static const char *users_transports(void) {
    const char *ours = getenv("HEARTH_UCX_TLS");
    return ours ? ours : getenv("UCX_TLS");
}

static bool is_network(const char *component) {
    return !strcmp(component, "ib") || !strcmp(component, "ugni") || !strcmp(component, "tcp");
}

/* Names of the networks that have a device here, separated by commas. UCX warns about any other. */
static void find_networks(char *into, size_t room) {
    uct_component_h *components;
    unsigned count;
    size_t used = 0;
    *into = 0;
    if (uct_query_components(&components, &count) != UCS_OK)
        return;
    for (unsigned i = 0; i < count; i++) {
        uct_component_attr_t a = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
                                                UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};
        if (uct_component_query(components[i], &a) != UCS_OK || !a.md_resource_count || !is_network(a.name))
            continue;
        int n = snprintf(into + used, room - used, "%s%s", used ? "," : "", a.name);
        used += n > 0 && (size_t)n < room - used ? (size_t)n : 0;
    }
    uct_release_component_list(components);
}

static int modify(ucp_config_t *config, const char *name, const char *value) {
    ucs_status_t status = ucp_config_modify(config, name, value);
    if (status == UCS_OK)
        return 0;
    log_error("network ucx: UCX rejects %s=%s: %s; set HEARTH_NET=mpi", name, value,
              ucs_status_string(status));
    return -EINVAL;
}

/* Settings of a transport have no prefix in UCX 1.13, and that of the transport in 1.18. UCX accepts any name: a wrong one has no
 * effect. */
static int modify_tcp(ucp_config_t *config, const char *name, const char *value) {
    unsigned major, minor, release;
    char full[32];
    ucp_get_version(&major, &minor, &release);
    snprintf(full, sizeof full, "%s%s", major > 1 || minor > 13 ? "TCP_" : "", name);
    return modify(config, full, value);
}

static int modify_tcp_size(ucp_config_t *config, const char *name, size_t bytes) {
    char value[32];
    snprintf(value, sizeof value, "%zu", bytes);
    return modify_tcp(config, name, value);
}

/* TCP's keepalive detects a machine that is gone while no message is in flight: after 5 + 5 x 1 seconds. */
static int configure(ucp_config_t *config, const struct link_options *options) {
    enum { FRAMES = 4096 /* the framing of UCX and TCP, rounded up generously */ };
    size_t segment = round_up(options->most + LINK_HEADER + FRAMES, 4096);
    char networks[64];
    int status = 0;
    find_networks(networks, sizeof networks);
    if (!users_transports() && *networks)
        status = modify(config, "TLS", networks);
    status = status ? status : modify(config, "RNDV_THRESH", "inf");
    status = status ? status : modify_tcp_size(config, "TX_SEG_SIZE", segment);
    status = status ? status : modify_tcp_size(config, "RX_SEG_SIZE", 2 * segment);
    status = status ? status : modify_tcp(config, "KEEPIDLE", "5s");
    status = status ? status : modify_tcp(config, "KEEPINTVL", "1s");
    return status ? status : modify_tcp(config, "KEEPCNT", "5");
}

/* UCX reports the transports in use only as text: lines that end in "tcp/eth0", "rc_mlx5/mlx5_0:1". */
static int look_at_transports(struct ucx_link *l) {
    static const char *const networks[] = {" tcp/", " ud_", " rc_", " dc_", " ugni_"};
    char *text = NULL;
    size_t bytes;
    bool found = false;
    FILE *file = open_memstream(&text, &bytes);
    if (!file)
        return -ENOMEM;
    ucp_context_print_info(l->context, file);
    if (fclose(file) != 0) {
        free(text);
        return -ENOMEM;
    }
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        found |= strstr(text, networks[i]) != NULL;
    l->hardware = strstr(text, " rc_") || strstr(text, " dc_") || strstr(text, " ugni_rdma");
    free(text);
    log_debug(LOG_NET, "ucx: the transports are %s%s",
              users_transports() ? users_transports() : "the networks that UCX finds",
              !found        ? ", without a network"
              : l->hardware ? ", with RDMA"
                            : ", without RDMA");
    if (found)
        return 0;
    log_error("network ucx: no network among the transports %s: set HEARTH_UCX_TLS=tcp, or HEARTH_NET=mpi",
              users_transports() ? users_transports() : "of UCX");
    return -ENOTSUP;
}

static int init(struct ucx_link *l, const ucp_config_t *config, const struct link_options *options) {
    ucp_params_t params = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED | UCP_PARAM_FIELD_NAME,
        .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP | (options->direct ? UCP_FEATURE_RMA : 0),
        .mt_workers_shared = options->ports > 1,
        .name = "hearth"};
    ucs_status_t status = ucp_init(&params, config, &l->context);
    if (status == UCS_OK)
        return 0;
    log_error("network ucx: UCX does not start: %s; see UCX_LOG_LEVEL=info, or set HEARTH_NET=mpi",
              ucs_status_string(status));
    return net_ucx_code(status);
}

int net_ucx_open(const struct link_options *options, struct link **link) {
    ucp_config_t *config;
    struct ucx_link *l = calloc(1, sizeof *l);
    if (!l) {
        log_error("network ucx: no memory");
        return -ENOMEM;
    }
    int status = net_ucx_code(ucp_config_read("HEARTH", NULL, &config));
    if (status != 0) {
        log_error("network ucx: invalid UCX settings in the environment: check UCX_*");
        free(l);
        return status;
    }
    status = configure(config, options);
    status = status ? status : init(l, config, options);
    ucp_config_release(config);
    if (status == 0 && (status = look_at_transports(l)) != 0)
        ucp_cleanup(l->context);
    if (status != 0) {
        free(l);
        return status;
    }
    l->base.network = &hearth_link_ucx;
    l->most = options->most;
    l->anonymous = options->anonymous;
    l->in_place = options->in_place ? options->in_place : SIZE_MAX;
    log_debug(LOG_NET, "ucx: open for messages of up to %zu bytes, %d ports%s", options->most, options->ports,
              options->direct ? ", with memory access" : "");
    *link = &l->base;
    return 0;
}

void net_ucx_close(struct link *link) {
    struct ucx_link *l = (struct ucx_link *)link;
    ucp_cleanup(l->context);
    free(l);
}
