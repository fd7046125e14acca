/* ucx_port.c: opens and closes the ports of the link over UCX; its table of functions. A port is a worker, used by one
 * thread. */
#include "net/ucx/ucx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

static ucs_status_t port_set_handler(struct ucx_port *p, unsigned id, ucp_am_recv_callback_t call) {
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                  UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                  UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                    .id = id,
                                    .cb = call,
                                    .arg = p};
    return ucp_worker_set_am_recv_handler(p->worker, &param);
}

static ucs_status_t port_find_address(struct ucx_port *p) {
    ucp_worker_attr_t attr = {.field_mask =
                                  UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
                              .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY};
    ucs_status_t status = ucp_worker_query(p->worker, &attr);
    if (status != UCS_OK)
        return status;
    p->address_bytes = attr.address_length;
    if (attr.address_length <= LINK_ADDRESS)
        memcpy(p->address, attr.address, attr.address_length);
    ucp_worker_release_address(p->worker, attr.address);
    if (p->address_bytes <= LINK_ADDRESS)
        return UCS_OK;
    log_error("network ucx: the address has %zu bytes, at most %d are supported: name fewer devices in "
              "UCX_NET_DEVICES",
              p->address_bytes, LINK_ADDRESS);
    return UCS_ERR_EXCEEDS_LIMIT;
}

static ucs_status_t port_prepare(struct ucx_port *p) {
    ucs_status_t status = port_set_handler(p, UCX_MESSAGE, net_ucx_arrived);
    status = status != UCS_OK ? status : port_set_handler(p, UCX_HELLO, net_ucx_greeted);
    status = status != UCS_OK ? status : ucp_worker_get_efd(p->worker, &p->descriptor);
    return status != UCS_OK ? status : port_find_address(p);
}

static int ucx_port_open(struct link *link, int number, const struct link_events *events,
                         struct link_port **port) {
    struct ucx_link *l = (struct ucx_link *)link;
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    struct ucx_port *p = calloc(1, sizeof *p);
    if (!p) {
        log_error("network ucx: no memory for port %d", number);
        return -ENOMEM;
    }
    *p = (struct ucx_port){
        .base = {.network = &hearth_link_ucx}, .link = l, .events = *events, .number = number};
    p->unknown.port = p;
    ucs_status_t status = ucp_worker_create(l->context, &params, &p->worker);
    if (status != UCS_OK)
        goto free_port;
    status = port_prepare(p);
    if (status != UCS_OK)
        goto destroy_worker;
    *port = &p->base;
    return 0;

destroy_worker:
    ucp_worker_destroy(p->worker);
free_port:
    log_error("network ucx: cannot open port %d: %s; see ulimit -n, or set HEARTH_NET=mpi", number,
              ucs_status_string(status));
    free(p);
    return net_ucx_code(status);
}

static int ucx_port_address(struct link_port *port, void *into) {
    struct ucx_port *p = (struct ucx_port *)port;
    memcpy(into, p->address, p->address_bytes);
    return (int)p->address_bytes;
}

/* Completes the sends. A flush needs progress at the other end. Helpers make it; main ports no longer do, so a
 * helper only completes the requests that it knows to be pending. */
static void ucx_port_quiesce(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    uint64_t deadline = clock_ns() + LINK_CLOSE_NS;
    ucp_request_param_t param = net_ucx_counted(p, 0);
    p->quiesced = true;
    for (struct ucx_peer *peer = p->peers; p->number == 0 && peer; peer = peer->next)
        if (peer->ep && !peer->failed)
            net_ucx_count(p, ucp_ep_flush_nbx(peer->ep, &param));
    net_ucx_complete(p, deadline);
}

static void ucx_port_shut(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    ucp_request_param_t param = net_ucx_counted(p, UCP_EP_CLOSE_FLAG_FORCE);
    p->quiesced = true;
    for (struct ucx_peer *peer = p->peers; peer; peer = peer->next) {
        if (!peer->ep)
            continue;
        net_ucx_count(p, ucp_ep_close_nbx(peer->ep, &param));
        if (peer->second)
            net_ucx_count(p, ucp_ep_close_nbx(peer->second, &param));
        peer->ep = peer->second = NULL;
        peer->failed = true;
    }
    net_ucx_complete(p, clock_ns() + LINK_CLOSE_NS);
}

static void ucx_port_close(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    ucx_port_shut(port);
    ucp_worker_destroy(p->worker);
    net_ucx_free_peers(p);
    net_ucx_free_receives(p);
    free(p);
}

static bool ucx_in_place(const struct link *link) {
    return ((const struct ucx_link *)link)->in_place != SIZE_MAX;
}

const struct link_network hearth_link_ucx = {
    .open = net_ucx_open,
    .close = net_ucx_close,
    .in_place = ucx_in_place,
    .port_open = ucx_port_open,
    .port_quiesce = ucx_port_quiesce,
    .port_shut = ucx_port_shut,
    .port_close = ucx_port_close,
    .port_address = ucx_port_address,
    .connect = net_ucx_connect,
    .send = net_ucx_send,
    .progress = net_ucx_progress,
    .arm = net_ucx_arm,
    .descriptor = net_ucx_descriptor,
    .nap = net_ucx_nap,
    .is_direct = net_ucx_is_direct,
    .expose = net_ucx_expose,
    .hide = net_ucx_hide,
    .window_open = net_ucx_window_open,
    .window_close = net_ucx_window_close,
    .put = net_ucx_put,
    .get = net_ucx_get,
    .flush = net_ucx_flush,
};
