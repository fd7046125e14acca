/* memory.h: sizes of the libraries' structures, taken from their own headers; internal to sim_memory. The same
 * name means different things in different folders (a target, a peer), so each folder has a file of its own. */
#ifndef HEARTH_SIM_MEMORY_H
#define HEARTH_SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "net/rpc/flow.h"

/* memory_rma.c, memory_p2p.c: bytes of a process for each rank of a window; of the job; of a communicator */
size_t memory_window_target(void);
size_t memory_match_peer(void);
size_t memory_comm_member(void);

/* memory_net.c: bytes of a client's target, without its flow control; of a helper's address; of a rank in an
 * ARMCI allocation; of the header before a buffer */
size_t memory_net_target(void);
size_t memory_net_address(void);
size_t memory_armci_part(void);
size_t memory_slot_head(void);
size_t memory_client_record(const struct flow_limits *limits);

/* memory_pages.c: bytes of a rank's segment, for GASNet and for the pages; of a node in the channel of a node's
 * service */
size_t memory_segment(void);
size_t memory_channel_node(void);

#endif
