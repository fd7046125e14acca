/* ucx_send.c: sends messages as UCX active messages.
 *
 * A message is one active message. UCX writes the header and payload to the socket in one call. The part that the socket
 * does not accept is pending: UCX retries it in progress. A large payload (link_options.in_place) is sent by rendezvous,
 * once the receiver has named the destination.
 *
 * UCX has its shortest path for a message without a header that does not name the endpoint to reply through (link_options.anonymous). */
#include "net/ucx/ucx.h"

#include "base/compiler.h"

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
    net_ucx_peer_fail(peer, what, UCS_PTR_STATUS(request));
    return net_ucx_code(UCS_PTR_STATUS(request));
}

int net_ucx_send(struct link_port *port, struct link_peer *to, const void *header, size_t header_bytes,
                 const void *payload, size_t bytes, struct link_send *s) {
    struct ucx_peer *peer = (struct ucx_peer *)to;
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                        UCP_OP_ATTR_FIELD_MEMORY_TYPE,
        .flags = (peer->port->link->anonymous ? 0 : UCP_AM_SEND_FLAG_REPLY) |
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
