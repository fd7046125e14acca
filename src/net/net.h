/* net.h: communication between processes. Other folders include this header only. */
#ifndef HEARTH_NET_H
#define HEARTH_NET_H

#include "net/boot/agree.h"
#include "net/boot/collect.h"
#include "net/boot/machine.h"
#include "net/mpi/boot_mpi.h"
#include "net/rpc/call.h"
#include "net/rpc/channel.h"
#include "net/rpc/direct.h"
#include "net/rpc/share.h"
#include "net/shm/memfile.h"
#include "net/node/messages.h"
#include "net/node/pull.h"
#include "net/shm/address_picker.h"
#include "net/shm/extents.h"
#include "net/shm/memory_limit.h"
#include "net/shm/promise.h"
#include "net/rpc/sched_slice.h"
#include "net/rpc/spin.h"
#include "net/shm/wake.h"

#endif
