/* net.h: between processes. Every other folder uses the network through this header alone. */
#ifndef HEARTH_NET_H
#define HEARTH_NET_H

#include "net/call.h"
#include "net/direct.h"
#include "net/node/messages.h"

#endif
