#!/bin/sh
# Checks the layers of the sources, and tests layers.sh itself on small trees with one violation each.
set -u
cd "$(dirname "$0")" || exit 1
./layers.sh || exit 1

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/include/hearth"
echo '#include <mpi.h>' >"$tree/include/hearth/clampi.h"
faults=0

plant() { # file, header that it includes, expected message (empty: allowed), line
    rm -rf "$tree/src" "$tree/apps" "$tree/tools" "$tree/sim"
    mkdir -p "$tree/$(dirname "$1")"
    printf '/* one */\n%s\n' "#include $2" >"$tree/$1"
    said=$(./layers.sh "$tree")
    case "$3:$said" in
    : | "$3:$1:${4:-2}: $3"*) ;;
    *)
        echo "planted in $1: #include $2; expected: ${3:-nothing}; found: ${said:-nothing}"
        faults=$((faults + 1))
        ;;
    esac
}

plant src/base/a.c '<mpi.h>' 'base may not use MPI'
plant src/cache/a.c '"hearth/clampi.h"' 'cache may not use MPI'
plant src/base/a.c '"cache/cache.h"' 'base may not include cache'
plant src/cache/a.h '"match/match.h"' 'cache may not include match'
plant src/cache/a.c '"net/net.h"' 'cache may not include net'
plant src/mpi/a.c '"armci/armci.h"' 'mpi may not include armci'
plant src/data/a.c '<mpi.h>' 'data may not use MPI'
plant src/data/a.c '"cache/cache.h"' 'data may not include cache'
plant src/data/a.c '"armci/armci.h"' 'data may not include armci'
plant src/pages/a.c '"data/data.h"' 'pages may not include data'
plant src/net/link/a.c '<mpi.h>' 'net may not use MPI'
plant src/net/mpi/a.c '<mpi.h>' ''
plant src/net/rpc/a.c '"data/data.h"' 'net may not include data'
plant src/mpi/windows/caching/a.c '"data/element.h"' '"data/element.h" is private to data'
plant src/armci/request/a.c '"data/patch.h"' '"data/patch.h" is private to data'
plant src/pages/deep/a.c '"gas/gas.h"' 'pages may not include gas'
plant src/base/a.c '"observe/json.h"' 'base may not include observe'
plant src/tables/a.c '"observe/json.h"' 'tables may not include observe'
plant src/net/shm/a.c '"heater/heater.h"' 'net may not include heater'
plant src/cache/a.c '"observe/live.h"' ''
plant src/mpi/a.c ' "cache/index.h"' '"cache/index.h" is private to cache'
plant apps/lcc/a.c '"cache/index.h"' '"cache/index.h" is private to cache'
plant src/mpi/a.c '"../cache/cache.h"' '"../cache/cache.h" bypasses'
plant tools/a.c '<mpi.h>' 'tools may not use MPI'
plant tools/probe/a.c '<mpi.h>' ''
plant tools/probe/a.c '"base/log.h"' 'probe may not include base'
plant tools/a.c '"base/log.h"' ''
plant sim/a.c '"../src/net/rpc/flow.h"' '"../src/net/rpc/flow.h" bypasses'
plant sim/a.c '"net/rpc/flow.h"' ''
plant tools/scale/a.c '"net/rpc/flow.h"' ''
plant tools/info/a.c '"net/rpc/flow.h"' '"net/rpc/flow.h" is private to net'
plant src/net/shm/a.c '"net/rpc/call.h"' 'net/shm may not include "net/rpc/call.h", which is above it'
plant src/pages/pool/a.h '"pages/pages_internal.h"' 'pages/pool may not include "pages/pages_internal.h", which is above it'
plant src/mpi/windows/caching/a.c '"mpi/messages/calls/send.h"' 'mpi/windows may not include "mpi/messages/calls/send.h", which is above it'
plant src/mpi/messages/a.c '"mpi/other/a.h"' 'the folder mpi/other is not in the list of layers'
plant src/mpi/messages/state/a.c '"mpi/messages/transport/arrive.h"' 'mpi/messages/state may not include "mpi/messages/transport/arrive.h", which is above it'
plant src/mpi/messages/calls/a.h '"mpi/messages/start.h"' 'mpi/messages/calls may not include "mpi/messages/start.h", which is above it'
plant src/mpi/windows/caching/window/a.c '"mpi/messages/calls/send.h"' 'mpi/windows may not include "mpi/messages/calls/send.h", which is above it'
plant src/mpi/messages/calls/a.c '"mpi/messages/other/a.h"' 'the folder mpi/messages/other is not in the list of layers'
plant src/mpi/messages/calls/a.c '"mpi/messages/state/data.h"' ''
plant src/mpi/messages/a.c '"mpi/messages/calls/send.h"' ''
plant src/mpi/messages/a.c '"mpi/windows/caching/get.h"' ''
plant src/mpi/windows/caching/window/a.c '"mpi/windows/caching/inflight/fetch.h"' 'mpi/windows/caching/window may not include "mpi/windows/caching/inflight/fetch.h", which is above it'
plant src/net/rpc/a.c '"net/shm/heap.h"' ''
plant src/pages/pool/a.c '"pages/pages.h"' ''
plant src/mpi/a.c '"mpi/windows/caching/get.h"' ''
plant src/base/a.c '"base/log.h"' ''
plant src/mpi/a.c '"cache/cache.h"' ''
plant src/mpi/a.c '<mpi.h>' ''
plant src/pages/a.c '"net/net.h"' ''
plant src/data/a.c '"net/net.h"' ''
plant src/mpi/windows/caching/a.c '"data/data.h"' ''
plant src/armci/request/a.c '"data/data.h"' ''
plant src/base/a.c '<sys/mman.h>' ''
plant apps/lcc/a.c '"lcc/graph.h"' ''
plant src/other/a.c '<stdio.h>' 'the folder other is not in the list of layers' 1
[ $faults = 0 ]
