/* rpc_module.c: the only file of libhearth-serve that is not part of src/net or src/base. */
#include "base/base.h"
#include "mpi/serve/remote/rpc.h"

__attribute__((visibility("default"))) const struct serve_rpc hearth_serve_rpc = {
    .version = HEARTH_VERSION,
    .bytes = sizeof hearth_serve_rpc,
    .identify = log_identify,
    .world_open = net_world_open,
    .world_close = net_world_close,
    .open = net_open,
    .close = net_close,
    .mailbox = net_mailbox,
    .start = net_start,
    .is_done = net_is_done,
    .is_sent = net_is_sent,
    .under_way = net_under_way,
    .block_bytes = net_block_bytes,
    .progress = net_progress,
    .nap = net_nap,
    .wait_sent = net_wait_sent,
    .wait_done = net_wait_done,
    .fence = net_fence,
    .reply = net_reply,
    .is_direct = net_is_direct,
    .expose = net_expose,
    .hide = net_hide,
    .window_open = net_window_open,
    .window_close = net_window_close,
    .put = net_put,
    .get = net_get,
    .wait_direct = net_wait_direct,
};
