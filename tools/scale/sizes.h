/* sizes.h: sizes of the libraries' structures, taken from their own headers; internal to scale.c. The same
 * name means different things in different folders (a target, a peer), so each folder has a file of its own. */
#ifndef HEARTH_TOOLS_SIZES_H
#define HEARTH_TOOLS_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/rpc/flow.h"

/* sizes_windows.c: bytes of a process for a window, of whose ranks it uses some; of a node for where the ranks' memory lies, at different
 * addresses only, or `widest`, with sizes, units and processes that differ, too; of a node's first process meanwhile, at most; of a
 * process for what a served window adds, some of whose ranks on other nodes it uses; meanwhile; of a process for all its served windows
 * together; of a node for them */
size_t memory_window(uint32_t ranks, uint32_t used);
size_t memory_window_rows(int ranks, bool widest);
size_t memory_window_creation(int ranks, int nodes);
size_t memory_served(uint32_t ranks, uint32_t used, uint32_t per_node, int nodes);
size_t memory_served_creation(int ranks);
size_t memory_domain(int nodes);
size_t memory_domain_faults(int ranks);

/* sizes_messages.c: bytes of a process for the ranks that it uses; for each rank of an irregular communicator */
size_t memory_match_peers(uint32_t ranks, uint32_t used);
size_t memory_comm_member(void);

/* sizes_net.c: bytes of a client's target, without its flow control; of a helper's address; of an ARMCI allocation; of the header
 * before a buffer */
size_t memory_net_target(void);
size_t memory_net_address(void);
size_t memory_armci_allocation(void);
size_t memory_slot_head(void);
size_t memory_client_record(const struct flow_limits *limits);

/* sizes_pages.c: bytes of a rank's segment, for GASNet and for the pages; of a node in the channel of a node's
 * service */
size_t memory_segment(void);
size_t memory_channel_node(void);

#endif
