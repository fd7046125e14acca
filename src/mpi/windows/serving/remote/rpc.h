/* rpc.h: the calls of net/rpc/call.h, in a library of their own. Served windows across nodes need UCX, which
 * libhearth-mpi must not be linked with: programs that have no such windows need not have it. libhearth-serve, in the
 * same folder, is loaded when the first such window is created. */
#ifndef HEARTH_MPI_SERVE_RPC_H
#define HEARTH_MPI_SERVE_RPC_H

#include "net/net.h"

struct serve_rpc {
    const char *build; /* both libraries must be of the same build: they share structures */
    size_t bytes;      /* of this structure */
    void (*identify)(int rank);
    __typeof__(net_world_open) *world_open;
    __typeof__(net_world_close) *world_close;
    __typeof__(net_open) *open;
    __typeof__(net_close) *close;
    __typeof__(net_fence_all) *fence_all;
    __typeof__(net_count) *count;
    __typeof__(net_mailbox) *mailbox;
    __typeof__(net_start) *start;
    __typeof__(net_is_done) *is_done;
    __typeof__(net_is_sent) *is_sent;
    __typeof__(net_under_way) *under_way;
    __typeof__(net_block_bytes) *block_bytes;
    __typeof__(net_progress) *progress;
    __typeof__(net_nap) *nap;
    __typeof__(net_wait_sent) *wait_sent;
    __typeof__(net_wait_done) *wait_done;
    __typeof__(net_fence) *fence;
    __typeof__(net_reply) *reply;
    __typeof__(net_is_direct) *is_direct;
    __typeof__(net_expose) *expose;
    __typeof__(net_hide) *hide;
    __typeof__(net_window_open) *window_open;
    __typeof__(net_window_close) *window_close;
    __typeof__(net_put) *put;
    __typeof__(net_get) *get;
    __typeof__(net_wait_direct) *wait_direct;
};

/* Exported by libhearth-serve. */
extern const struct serve_rpc hearth_serve_rpc;

/* Loads the library. NULL: it cannot be loaded; *why is then the cause. */
const struct serve_rpc *serve_rpc_load(const char **why);

#endif
