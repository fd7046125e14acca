/* armci_serve.h: the helper's side of ARMCI. */
#ifndef HEARTH_ARMCI_SERVE_H
#define HEARTH_ARMCI_SERVE_H

#include "net/net.h"

/* For net_open: the handlers of all operations of ops.h, and of the requests of local_ask.h. */
extern const struct net_service armci_service;

#endif
