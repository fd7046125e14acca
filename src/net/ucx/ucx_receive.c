/* ucx_receive.c: receives UCX active messages.
 *
 * UCX hands out pointers into its receive buffer. A large payload (link_options.in_place) comes by rendezvous: UCX
 * announces the message with its header, the caller names the memory, and UCX writes the payload there. Over TCP
 * it comes in small fragments, which UCX 1.13 copies from its receive buffer, whatever UCX_RNDV_SCHEME says. */
#include "net/ucx/ucx.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"

/* A message whose payload is being received in place. */
struct ucx_receive {
    struct ucx_receive *next; /* of the free list */
    struct ucx_peer *from;
    void *into;
    size_t header_bytes, bytes;
    _Alignas(8) char header[LINK_HEADER];
};

static struct ucx_receive *ucx_receive_take(struct ucx_port *p) {
    struct ucx_receive *r = p->free_receives;
    if (!r)
        return malloc(sizeof *r);
    p->free_receives = r->next;
    return r;
}

static void ucx_receive_free(struct ucx_port *p, struct ucx_receive *r) {
    r->next = p->free_receives;
    p->free_receives = r;
}

static void ucx_receive_finish(struct ucx_receive *r, ucs_status_t status) {
    struct ucx_port *p = r->from->port;
    if (status == UCS_OK)
        p->events.arrived(p->events.arg, &r->from->base, r->header, r->header_bytes, r->into, r->bytes);
    else
        net_ucx_peer_fail(r->from, "a message is lost", status);
    ucx_receive_free(p, r);
}

/* Called by UCX. */
static void ucx_receive_completed(void *request, ucs_status_t status, size_t bytes, void *receive) {
    struct ucx_receive *r = receive;
    r->from->port->under_way--;
    ucp_request_free(request);
    ucx_receive_finish(r, status);
}

/* The message was announced. Returns what UCX expects from its callback: whether the announcement is still in use. */
static ucs_status_t ucx_receive_in_place(struct ucx_port *p, struct ucx_peer *from, const char *header,
                                         size_t header_bytes, void *announced, size_t bytes) {
    struct ucx_receive *r = ucx_receive_take(p);
    void *into = r ? p->events.place(p->events.arg, &from->base, header, header_bytes, bytes) : NULL;
    if (!into) {
        net_ucx_peer_fail(from, "a message was refused", r ? UCS_ERR_REJECTED : UCS_ERR_NO_MEMORY);
        if (r)
            ucx_receive_free(p, r);
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
                                 .cb.recv_am = ucx_receive_completed,
                                 .user_data = r};
    ucs_status_ptr_t request = ucp_am_recv_data_nbx(p->worker, announced, into, bytes, &param);
    if (UCS_PTR_IS_PTR(request)) {
        p->under_way++;
        return UCS_INPROGRESS;
    }
    ucx_receive_finish(r, UCS_PTR_STATUS(request));
    return UCS_OK;
}

/* NULL: no memory for it. */
static struct ucx_peer *ucx_sender(struct ucx_port *p, ucp_ep_h ep) {
    struct ucx_peer *from = net_peers_find(&p->by_endpoint, (uintptr_t)ep);
    return LIKELY(from != NULL) ? from : net_ucx_adopt(p, ep);
}

/* Copies the short header to aligned memory. */
ucs_status_t net_ucx_arrived(void *arg, const void *header, size_t header_bytes, void *data, size_t bytes,
                             const ucp_am_recv_param_t *param) {
    struct ucx_port *p = arg;
    _Alignas(8) char copy[LINK_HEADER];
    struct ucx_peer *from = NULL;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP && !(from = ucx_sender(p, param->reply_ep)))
        return UCS_OK;
    if (UNLIKELY(header_bytes > sizeof copy)) {
        log_error("network ucx: dropped a message with a header of %zu bytes from rank %d: not from Hearth",
                  header_bytes, from ? from->rank : -1);
        return UCS_OK;
    }
    if (header_bytes)
        memcpy(copy, header, header_bytes);
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV && from)
        return ucx_receive_in_place(p, from, copy, header_bytes, data, bytes);
    p->events.arrived(p->events.arg, from ? &from->base : NULL, copy, header_bytes, data, bytes);
    return UCS_OK;
}

void net_ucx_free_receives(struct ucx_port *p) {
    while (p->free_receives) {
        struct ucx_receive *r = p->free_receives;
        p->free_receives = r->next;
        free(r);
    }
}
