/* local_ask.h: requests of a process to the helper of its own node, through the mailbox. */
#ifndef HEARTH_ARMCI_LOCAL_ASK_H
#define HEARTH_ARMCI_LOCAL_ASK_H

#include <stddef.h>
#include <stdint.h>

enum local_kind { LOCAL_ATTACH, LOCAL_DETACH, LOCAL_CREATE, LOCAL_DESTROY, LOCAL_LOCK, LOCAL_UNLOCK };

/* Sends a request to the helper of this node and waits for its answer. */
int64_t armci_local_ask(uint32_t what, const void *words, size_t bytes);

#endif
