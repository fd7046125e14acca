/* flow_internal.h: functions on limits and buffer sets that flow_client.c and flow_helper.c share. */
#ifndef HEARTH_NET_FLOW_INTERNAL_H
#define HEARTH_NET_FLOW_INTERNAL_H

#include <stdlib.h>

#include "base/compiler.h"
#include "net/rpc/flow.h"

static inline bool net_flow_is_multiple(uint32_t bytes, uint32_t least) {
    return bytes >= least && bytes % 64 == 0;
}

static inline bool net_flow_are_sound(const struct flow_limits *l) {
    return l->buffers >= 1 && l->buffers <= FLOW_BUFFERS && net_flow_is_multiple(l->bytes, 64) &&
           l->pool_buffers <= FLOW_POOL &&
           (!l->pool_buffers || net_flow_is_multiple(l->pool_buffer_bytes, l->bytes));
}

static inline uint64_t net_flow_all_pool_buffers(const struct flow_limits *l) {
    return l->pool_buffers == 64 ? UINT64_MAX : (UINT64_C(1) << l->pool_buffers) - 1;
}

static inline uint64_t net_flow_lowest(uint64_t set) {
    return set & (~set + 1);
}

static inline bool net_flow_is_within(uint64_t part, uint64_t set) {
    return !(part & ~set);
}

/* The most blocks that a client can have in flight. */
static inline uint32_t net_flow_window(const struct flow_limits *l) {
    return l->buffers + l->pool_buffers;
}

/* A power of two, so that numbers that wrap continue at the right index. */
static inline uint32_t net_flow_ring(const struct flow_limits *l) {
    uint32_t ring = 1;
    while (ring < net_flow_window(l))
        ring *= 2;
    return ring;
}

static inline void net_flow_must(bool holds) {
    if (!holds)
        abort();
}

#endif
