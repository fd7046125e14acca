#!/bin/sh
# The layers hold in the sources, and layers.sh would notice if they did not: it is shown a house with one fault each.
set -u
cd "$(dirname "$0")" || exit 1
./layers.sh || exit 1

house=$(mktemp -d)
trap 'rm -rf "$house"' EXIT
mkdir -p "$house/include"
echo '#include <mpi.h>' >"$house/include/clampi.h"
faults=0

plant() { # file, what it includes, what must be said of it or nothing if it is allowed, of which line
    rm -rf "$house/src" "$house/apps" "$house/tools" "$house/sim"
    mkdir -p "$house/$(dirname "$1")"
    printf '/* one */\n%s\n' "#include $2" >"$house/$1"
    said=$(./layers.sh "$house")
    case "$3:$said" in
    : | "$3:$1:${4:-2}: $3"*) ;;
    *)
        echo "planted in $1: #include $2; expected: ${3:-nothing}; found: ${said:-nothing}"
        faults=$((faults + 1))
        ;;
    esac
}

plant src/base/a.c '<mpi.h>' 'base may not use MPI'
plant src/cache/a.c '"clampi.h"' 'cache may not use MPI'
plant src/base/a.c '"cache/cache.h"' 'base may not include cache'
plant src/cache/a.h '"match/match.h"' 'cache may not include match'
plant src/cache/a.c '"net/net.h"' 'cache may not include net'
plant src/mpi/a.c '"armci/armci.h"' 'mpi may not include armci'
plant src/pages/deep/a.c '"gas/gas.h"' 'pages may not include gas'
plant src/cache/a.c '"base/log.h"' '"base/log.h" stays inside base'
plant src/mpi/a.c ' "cache/index.h"' '"cache/index.h" stays inside cache'
plant apps/lcc/a.c '"cache/index.h"' '"cache/index.h" stays inside cache'
plant src/mpi/a.c '"../cache/cache.h"' '"../cache/cache.h" goes round'
plant tools/a.c '<mpi.h>' 'tools may not use MPI'
plant tools/a.c '"base/log.h"' '"base/log.h" stays inside base'
plant tools/probe/a.c '<mpi.h>' ''
plant tools/probe/a.c '"base/base.h"' 'probe may not include base'
plant tools/a.c '"base/base.h"' ''
plant sim/a.c '"../src/net/flow.h"' '"../src/net/flow.h" goes round'
plant sim/a.c '"net/flow.h"' ''
plant src/base/a.c '"base/log.h"' ''
plant src/mpi/a.c '"cache/cache.h"' ''
plant src/mpi/a.c '<mpi.h>' ''
plant src/pages/a.c '"net/net.h"' ''
plant src/base/a.c '<sys/mman.h>' ''
plant apps/lcc/a.c '"lcc/graph.h"' ''
plant src/other/a.c '<stdio.h>' 'the folder other has no place' 1
[ $faults = 0 ]
