/* ex_peer.c: handlers that run at the peer of a put or get of non-contiguous memory, when the data is there.
 *
 * The thread that makes the call waits until the operation is complete, and then sends a message of the library with the
 * payload. Its handler at the peer calls the program's handler as that of a reply, which may not reply. */
#include "gas/ex/ex.h"

#include "base/compiler.h"
#include "gas/am/am.h"

struct peer_completion {
    gex_AM_Index_t handler; /* 0: none */
    const void *source;
    size_t bytes;
};
static _Thread_local struct peer_completion armed;

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr, size_t nbytes,
                                      gex_Flags_t flags) {
    const char *call = "gex_VIS_SetPeerCompletionHandler";
    gas_need(call, 0);
    gas_ex_flags(call, flags, 0);
    if (UNLIKELY(handler != 0 && handler < AM_FIRST))
        gas_fail(call, "handler %u is not a handler of the program: its handlers are %d to %d", handler,
                 AM_FIRST, AM_LAST);
    if (UNLIKELY(handler != 0 && (nbytes > GEX_VIS_MAX_PEERCOMPLETION || (nbytes > 0 && !source_addr))))
        gas_fail(call, "a payload of %zu bytes at %p: the maximum is %zu", nbytes, source_addr,
                 GEX_VIS_MAX_PEERCOMPLETION);
    armed = (struct peer_completion){handler, source_addr, nbytes};
}

bool gas_ex_peer_is_armed(void) {
    return armed.handler != 0;
}

void gas_ex_peer_notify(gasnet_node_t node) {
    struct peer_completion c = armed;
    armed.handler = 0;
    gas_am_send_data((int)node, AM_PEER_COMPLETE, c.source, c.bytes, 1, (int32_t[]){c.handler});
}

/* The handler of AM_PEER_COMPLETE. Nothing follows the program's handler, which leaves the thread as one that runs none. */
static void on_peer_complete(gasnet_token_t token, void *data, size_t bytes, int32_t handler) {
    const struct am_token *t = token;
    struct am_message m = *t->message;
    struct am_token reply = {0};
    (void)bytes;
    m.handler = (uint8_t)handler;
    m.count = 0;
    gas_am_run(&m, data, &reply, AM_IN_REPLY);
}

void gas_ex_peer_open(void) {
    gas_am_register_own(AM_PEER_COMPLETE, (am_handler *)on_peer_complete, 1, GEX_FLAG_AM_MEDIUM);
}
