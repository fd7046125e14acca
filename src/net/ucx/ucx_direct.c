/* ucx_direct.c: one-sided access to remote memory.
 *
 * With RDMA devices the remote CPU is not involved. Over TCP, UCX emulates it with messages of its own, which the
 * thread of the peer's port handles: correct, but slower than our messages. */
#include "net/ucx/ucx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct link_memory {
    ucp_mem_h handle;
};

struct ucx_window {
    struct link_window base;
    struct ucx_peer *peer;
    ucp_rkey_h key;
};

bool net_ucx_is_direct(const struct link *link) {
    return ((const struct ucx_link *)link)->hardware;
}

static int pack_key(struct ucx_link *l, ucp_mem_h handle, void *key) {
    void *packed;
    size_t bytes;
    ucs_status_t status = ucp_rkey_pack(l->context, handle, &packed, &bytes);
    if (status != UCS_OK)
        return net_ucx_code(status);
    if (bytes <= LINK_KEY)
        memcpy(key, packed, bytes);
    ucp_rkey_buffer_release(packed);
    return bytes <= LINK_KEY ? (int)bytes : -EMSGSIZE;
}

int net_ucx_expose(struct link *link, void *base, size_t bytes, struct link_memory **memory, void *key) {
    struct ucx_link *l = (struct ucx_link *)link;
    ucp_mem_map_params_t params = {.field_mask =
                                       UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = base,
                                   .length = bytes};
    struct link_memory *m = malloc(sizeof *m);
    if (!m) {
        log_error("network ucx: no memory to expose %zu bytes", bytes);
        return -ENOMEM;
    }
    ucs_status_t status = ucp_mem_map(l->context, &params, &m->handle);
    int length = status == UCS_OK ? pack_key(l, m->handle, key) : net_ucx_code(status);
    if (length < 0) {
        log_error("network ucx: %zu bytes at %p cannot be exposed: %s; see ulimit -l", bytes, base,
                  status == UCS_OK ? strerror(-length) : ucs_status_string(status));
        if (status == UCS_OK)
            ucp_mem_unmap(l->context, m->handle);
        free(m);
        return length;
    }
    *memory = m;
    return length;
}

void net_ucx_hide(struct link *link, struct link_memory *memory) {
    ucp_mem_unmap(((struct ucx_link *)link)->context, memory->handle);
    free(memory);
}

int net_ucx_window_open(struct link_peer *peer, const void *key, struct link_window **window) {
    struct ucx_peer *to = (struct ucx_peer *)peer;
    int code = net_ucx_connected(to);
    if (code != 0)
        return code;
    struct ucx_window *w = malloc(sizeof *w);
    if (!w) {
        log_error("network ucx: no memory for a window of rank %d", to->rank);
        return -ENOMEM;
    }
    *w = (struct ucx_window){.base = {.network = &hearth_link_ucx}, .peer = to};
    ucs_status_t status = ucp_ep_rkey_unpack(to->ep, key, &w->key);
    if (status != UCS_OK) {
        log_error("network ucx: memory of rank %d cannot be reached: %s", to->rank,
                  ucs_status_string(status));
        free(w);
        return net_ucx_code(status);
    }
    to->has_windows = true;
    *window = &w->base;
    return 0;
}

void net_ucx_window_close(struct link_window *window) {
    struct ucx_window *w = (struct ucx_window *)window;
    ucp_rkey_destroy(w->key);
    free(w);
}

static ucp_request_param_t pending(struct link_send *s) {
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = net_ucx_sent,
                                 .user_data = s};
}

int net_ucx_put(struct link_port *p, struct link_window *w, uint64_t to, const void *from, size_t bytes,
                struct link_send *s) {
    struct ucx_window *there = (struct ucx_window *)w;
    struct ucx_peer *peer = there->peer;
    ucp_request_param_t param = pending(s);
    int code = net_ucx_connected(peer);
    return code ? code
                : net_ucx_started(peer, ucp_put_nbx(peer->ep, from, bytes, to, there->key, &param), s,
                                  "a put was refused");
}

int net_ucx_get(struct link_port *p, struct link_window *w, void *to, uint64_t from, size_t bytes,
                struct link_send *s) {
    struct ucx_window *there = (struct ucx_window *)w;
    struct ucx_peer *peer = there->peer;
    ucp_request_param_t param = pending(s);
    int code = net_ucx_connected(peer);
    return code ? code
                : net_ucx_started(peer, ucp_get_nbx(peer->ep, to, bytes, from, there->key, &param), s,
                                  "a get was refused");
}

int net_ucx_flush(struct link_port *p, struct link_peer *peer, struct link_send *s) {
    struct ucx_peer *there = (struct ucx_peer *)peer;
    ucp_request_param_t param = pending(s);
    int code = net_ucx_connected(there);
    return code ? code
                : net_ucx_started(there, ucp_ep_flush_nbx(there->ep, &param), s, "a flush was refused");
}
