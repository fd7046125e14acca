/* ucx_progress.c: progress of a port over UCX, and its sleep.
 *
 * A port counts the requests that are under way, so that it can complete them before it is closed. While a connection
 * is being set up, the worker's descriptor may stay readable with nothing to do. */
#include "net/ucx/ucx.h"

#include <errno.h>

#include "base/clock.h"
#include "base/compiler.h"

/* Completion of a request that only the port waits for. */
static void ucx_request_completed(void *request, ucs_status_t status, void *port) {
    ((struct ucx_port *)port)->under_way--;
    ucp_request_free(request);
}

void net_ucx_count(struct ucx_port *p, ucs_status_ptr_t request) {
    p->under_way += UCS_PTR_IS_PTR(request);
}

ucp_request_param_t net_ucx_counted(struct ucx_port *p, uint32_t flags) {
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = flags,
                                 .cb.send = ucx_request_completed,
                                 .user_data = p};
}

int net_ucx_progress(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    unsigned happened = ucp_worker_progress(p->worker);
    if (UNLIKELY(p->failing != NULL)) {
        net_ucx_report_failures(p);
        happened++;
    }
    return (int)happened;
}

void net_ucx_complete(struct ucx_port *p, uint64_t deadline) {
    while (p->under_way && clock_ns() < deadline)
        if (ucp_worker_progress(p->worker) == 0)
            net_link_pause();
}

/* Over RDMA, ucp_worker_arm returns UCS_OK although a message has arrived since the last progress. The descriptor never becomes readable
 * for this message, so the port makes progress once more after arming. Later messages make the descriptor readable. */
int net_ucx_arm(struct link_port *port) {
    struct ucx_port *p = (struct ucx_port *)port;
    if (p->failing || ucp_worker_arm(p->worker) != UCS_OK)
        return -EAGAIN;
    return ucp_worker_progress(p->worker) ? -EAGAIN : 0;
}

int net_ucx_descriptor(const struct link_port *port) {
    return ((const struct ucx_port *)port)->descriptor;
}

uint64_t net_ucx_nap(const struct link_port *port) {
    return UINT64_MAX;
}
