#!/usr/bin/env bash
# Runs tests of served windows where the MPI below creates no windows over existing memory, nor any between nodes, as Open MPI
# of Debian across hosts: its component osc sm alone behaves so, on nodes of one rank each. The tests of memory, epochs and order
# must pass. Those of epochs must also pass over osc pt2pt of Open MPI 4, whose epochs begin later; it remains if the others are
# excluded.
#   test_served_handle.sh MPI TREE              timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ "$mpi" = openmpi ] || { echo "SKIP: $mpi creates windows between nodes" && exit 77; }

osc=sm ranks=1 # components; ranks of a node

run() { # program, cases...
    if "$here/launch.sh" "$mpi" 2 --timeout 50 --env OMPI_MCA_osc="$osc" --env HEARTH_TEST_CONFIG=serve1 --env HEARTH_WINDOWS=serve \
        --env HEARTH_NODE_RANKS=$ranks --preload "$tree/lib/libhearth-mpi.so" "$tree/test/mpi_$1" "${@:2}" >"$dir/out" 2>&1; then
        echo "ok $1, osc $osc"
    else
        echo "FAIL $1, osc $osc"
        sed 's/^/    | /' "$dir/out"
        failed=1
    fi
}

run served_locks
run served_many
run served_alone
run served_long
run served_handle
if ompi_info | grep -q 'osc: pt2pt'; then
    osc=^sm,rdma,ucx,portals4 ranks=2
    run served_locks operations_follow_the_post operations_follow_the_fence posts_and_starts_with_all_assertions
fi
exit $failed
