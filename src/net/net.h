/* net.h: communication between processes. Other folders include this header only. */
#ifndef HEARTH_NET_H
#define HEARTH_NET_H

#include "net/agree.h"
#include "net/call.h"
#include "net/channel.h"
#include "net/direct.h"
#include "net/memfile.h"
#include "net/node/messages.h"
#include "net/room.h"
#include "net/slices.h"
#include "net/spin.h"
#include "net/wake.h"

#endif
