#!/usr/bin/env bash
# Runs each program of apps/ once, with Hearth preloaded or linked; each program checks its own results. The other
# scripts here test more, in the full tier.
#   test_apps.sh MPI TREE      quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cache=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never)
messages=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on)
nodes=(--env HEARTH_NODE_RANKS=1)

run() { # PROGRAM [OPTION OF launch.sh]... -- [OPTION]...
    local program=$1 launch=() out
    shift
    while [ "$1" != -- ]; do launch+=("$1") && shift; done
    shift
    [ -x "$tree/bin/$program" ] || { echo "skip $program: it is not built here" && return; }
    if out=$("$here/launch.sh" "$mpi" 2 --timeout 60 "${launch[@]}" "$tree/bin/$program" "$@" 2>&1); then
        echo "ok $program $*"
    else
        echo "FAIL $program $*"
        tail -n 15 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
}

run lcc "${cache[@]}" -- --scale 8 --verify
run barnes-hut "${cache[@]}" -- --bodies 150 --steps 2 --verify 150 --cache hearth
run halo "${messages[@]}" -- stencil --block 4x3x2 --cells 3 --steps 3 --threads 2
run halo "${messages[@]}" -- cg --grid 9x8x7 --pad 300
run dft "${nodes[@]}" -- --atoms 4 --radial 50 --angular 20 --verify
run dgemm "${nodes[@]}" --env HEARTH_NVM_DIR="$dir" -- --size 190 --block 64 --verify
run dht "${nodes[@]}" --env HEARTH_NVM_DIR="$dir" -- --keys 300 --finds 200 --bytes 1000
run stencil "${nodes[@]}" --env HEARTH_NVM_DIR="$dir" -- --cells 60 --tile 16
exit $failed
