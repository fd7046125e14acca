/* sizes_net.c: sizes of the structures of src/net and src/armci, for scale.c. */
#include "scale/sizes.h"

#include "armci/request/armci_memory.h"
#include "base/compiler.h"
#include "net/rpc/rpc_engine.h"

size_t memory_net_target(void) {
    return sizeof(struct net_target);
}

size_t memory_net_address(void) {
    return round_up(sizeof(uint16_t) + LINK_ADDRESS, 8);
}

size_t memory_armci_allocation(void) {
    return sizeof(struct allocation);
}

size_t memory_slot_head(void) {
    return net_server_header();
}

size_t memory_client_record(const struct flow_limits *limits) {
    return net_server_record(limits);
}
