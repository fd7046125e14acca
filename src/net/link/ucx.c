/* ucx.c: messages between nodes as UCX active messages.
 *
 * A port is a worker, used by one thread. A peer is an endpoint: see ucx_peers.c.
 *
 * A message is one active message. UCX writes the header and payload to the socket in one call, and at the other end
 * hands out pointers into its receive buffer. The part that the socket does not accept is pending: UCX retries it in
 * progress. With every message UCX names the endpoint to reply through, which identifies the peer.
 *
 * A large payload (link_options.in_place) is sent by rendezvous: UCX announces the message with its header, the receiver
 * names the memory, and UCX writes the payload there. Over TCP the sender writes it to the socket from its own memory,
 * and the receiver reads it from the socket into the named memory; only what one read of the socket brought along with
 * the announcement is copied.
 *
 * While a connection is being set up, the worker's descriptor may stay readable with nothing to do. */
#include "net/link/ucx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"

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

/* ---- messages ---- */

void net_ucx_sent(void *request, ucs_status_t status, void *send) {
    struct link_send *s = send;
    ((struct ucx_port *)s->port)->under_way--;
    ucp_request_free(request);
    s->sent(s, net_ucx_code(status));
}

int net_ucx_started(struct ucx_peer *peer, ucs_status_ptr_t request, struct link_send *s, const char *what) {
    if (LIKELY(request == NULL))
        return 0;
    if (LIKELY(UCS_PTR_IS_PTR(request))) {
        s->port = &peer->port->base;
        peer->port->under_way++;
        return 1;
    }
    net_ucx_note_failure(peer, what, UCS_PTR_STATUS(request));
    return net_ucx_code(UCS_PTR_STATUS(request));
}

static int ucx_send_message(struct link_port *port, struct link_peer *to, const void *header,
                            size_t header_bytes, const void *payload, size_t bytes, struct link_send *s) {
    struct ucx_peer *peer = (struct ucx_peer *)to;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                        UCP_OP_ATTR_FIELD_MEMORY_TYPE,
        .flags = UCP_AM_SEND_FLAG_REPLY |
                 (bytes < peer->port->link->in_place ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV),
        .memory_type = UCS_MEMORY_TYPE_HOST,
        .cb.send = net_ucx_sent,
        .user_data = s};
    int code = net_ucx_connected(peer);
    if (UNLIKELY(code != 0))
        return code;
    return net_ucx_started(
        peer, ucp_am_send_nbx(peer->ep, UCX_MESSAGE, header, header_bytes, payload, bytes, &param), s,
        "a message was refused");
}

/* ---- payloads that are received in place ---- */

static struct ucx_receive *take_receive(struct ucx_port *p) {
    struct ucx_receive *r = p->free_receives;
    if (!r)
        return malloc(sizeof *r);
    p->free_receives = r->next;
    return r;
}

static void give_receive(struct ucx_port *p, struct ucx_receive *r) {
    r->next = p->free_receives;
    p->free_receives = r;
}

static void receive_ended(struct ucx_receive *r, ucs_status_t status) {
    struct ucx_port *p = r->from->port;
    if (status == UCS_OK)
        p->events.arrived(p->events.arg, &r->from->base, r->header, r->header_bytes, r->into, r->bytes);
    else
        net_ucx_note_failure(r->from, "a message is lost", status);
    give_receive(p, r);
}

/* Called by UCX. */
static void ucx_received(void *request, ucs_status_t status, size_t bytes, void *receive) {
    struct ucx_receive *r = receive;
    r->from->port->under_way--;
    ucp_request_free(request);
    receive_ended(r, status);
}

/* The message was announced. Returns what UCX expects from its callback: whether the announcement is still in use. */
static ucs_status_t receive_in_place(struct ucx_port *p, struct ucx_peer *from, const char *header,
                                     size_t header_bytes, void *announced, size_t bytes) {
    struct ucx_receive *r = take_receive(p);
    void *into = r ? p->events.place(p->events.arg, &from->base, header, header_bytes, bytes) : NULL;
    if (!into) {
        net_ucx_note_failure(from, "a message was refused", r ? UCS_ERR_REJECTED : UCS_ERR_NO_MEMORY);
        if (r)
            give_receive(p, r);
        return UCS_OK;
    }
    r->from = from;
    r->into = into;
    r->header_bytes = header_bytes;
    r->bytes = bytes;
    memcpy(r->header, header, header_bytes);
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_MEMORY_TYPE,
                                 .memory_type = UCS_MEMORY_TYPE_HOST,
                                 .cb.recv_am = ucx_received,
                                 .user_data = r};
    ucs_status_ptr_t request = ucp_am_recv_data_nbx(p->worker, announced, into, bytes, &param);
    if (UCS_PTR_IS_PTR(request)) {
        p->under_way++;
        return UCS_INPROGRESS;
    }
    receive_ended(r, UCS_PTR_STATUS(request));
    return UCS_OK;
}

/* Copies the short header to aligned memory. */
static ucs_status_t ucx_arrived(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes,
                                const ucp_am_recv_param_t *param) {
    struct ucx_port *p = arg;
    _Alignas(8) char copy[LINK_HEADER];
    struct ucx_peer *from = net_peers_find(&p->by_endpoint, (uintptr_t)param->reply_ep);
    if (UNLIKELY(!from) && !(from = net_ucx_adopt(p, param->reply_ep)))
        return UCS_OK;
    if (UNLIKELY(header_bytes > sizeof copy)) {
        log_error("network ucx: dropped a message with a header of %zu bytes from rank %d: not from Hearth",
                  header_bytes, from->rank);
        return UCS_OK;
    }
    if (header_bytes)
        memcpy(copy, header, header_bytes);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return receive_in_place(p, from, copy, header_bytes, data, bytes);
    p->events.arrived(p->events.arg, &from->base, copy, header_bytes, data, bytes);
    return UCS_OK;
}

static int ucx_progress(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    unsigned happened = ucp_worker_progress(p->worker);
    if (UNLIKELY(p->failing != NULL)) {
        net_ucx_tell_failures(p);
        happened++;
    }
    return (int)happened;
}

/* ---- sleep ---- */

static int ucx_arm(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    return p->failing || ucp_worker_arm(p->worker) != UCS_OK ? -EAGAIN : 0;
}

static int ucx_descriptor(const struct link_port *port) {
    return ((const struct ucx_port *)port)->descriptor;
}

static uint64_t ucx_nap(const struct link_port *port) {
    return UINT64_MAX;
}

/* ---- ports ---- */

static ucs_status_t set_handler(struct ucx_port *p, unsigned kind, ucp_am_recv_callback_t call) {
    ucp_am_handler_param_t param = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID |
                                                  UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                  UCP_AM_HANDLER_PARAM_FIELD_ARG,
                                    .id = kind,
                                    .cb = call,
                                    .arg = p};
    return ucp_worker_set_am_recv_handler(p->worker, &param);
}

static ucs_status_t ucx_find_address(struct ucx_port *p) {
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

static ucs_status_t ucx_prepare(struct ucx_port *p) {
    ucs_status_t status = set_handler(p, UCX_MESSAGE, ucx_arrived);
    status = status != UCS_OK ? status : set_handler(p, UCX_HELLO, net_ucx_greeted);
    status = status != UCS_OK ? status : ucp_worker_get_efd(p->worker, &p->descriptor);
    return status != UCS_OK ? status : ucx_find_address(p);
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
    *p =
        (struct ucx_port){.base = {.network = &net_link_ucx}, .link = l, .events = *events, .number = number};
    p->unknown.port = p;
    ucs_status_t status = ucp_worker_create(l->context, &params, &p->worker);
    if (status != UCS_OK)
        goto free_port;
    status = ucx_prepare(p);
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

/* ---- closing ---- */

/* Lets other processes on the same core run. */
static void ucx_pause_a_little(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* Makes progress until all counted requests have completed, or until the deadline. */
static void ucx_complete(struct ucx_port *p, uint64_t deadline) {
    while (p->under_way && clock_ns() < deadline)
        if (ucp_worker_progress(p->worker) == 0)
            ucx_pause_a_little();
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
    ucx_complete(p, deadline);
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
    ucx_complete(p, clock_ns() + LINK_CLOSE_NS);
}

static void ucx_port_close(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    ucx_port_shut(port);
    ucp_worker_destroy(p->worker);
    while (p->peers) {
        struct ucx_peer *peer = p->peers;
        p->peers = peer->next;
        free(peer->address);
        free(peer);
    }
    while (p->free_receives) {
        struct ucx_receive *r = p->free_receives;
        p->free_receives = r->next;
        free(r);
    }
    net_peers_close(&p->by_endpoint);
    net_peers_close(&p->by_address);
    free(p);
}

static bool ucx_in_place(const struct link *link) {
    return ((const struct ucx_link *)link)->in_place != SIZE_MAX;
}

const struct link_network net_link_ucx = {
    .open = net_ucx_open,
    .close = net_ucx_close,
    .in_place = ucx_in_place,
    .port_open = ucx_port_open,
    .port_quiesce = ucx_port_quiesce,
    .port_shut = ucx_port_shut,
    .port_close = ucx_port_close,
    .port_address = ucx_port_address,
    .connect = net_ucx_connect_to,
    .send = ucx_send_message,
    .progress = ucx_progress,
    .arm = ucx_arm,
    .descriptor = ucx_descriptor,
    .nap = ucx_nap,
    .is_direct = net_ucx_is_direct,
    .expose = net_ucx_expose,
    .hide = net_ucx_hide,
    .window_open = net_ucx_window_open,
    .window_close = net_ucx_window_close,
    .put = net_ucx_put,
    .get = net_ucx_get,
    .flush = net_ucx_flush,
};
