#!/usr/bin/env bash
# Tests served windows between nodes whose sockets take little at a time: what is sent from a window's memory leaves it much later than the
# request is executed.   test_served_slow.sh MPI TREE      quick: openmpi; timeout: 60
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for case in long_gets_end_before_their_lock long_operations_on_allocated_memory; do
    if out=$("$here/launch.sh" "$mpi" 2 --timeout 60 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 \
        --env UCX_TCP_SNDBUF=8k --env HEARTH_BYPASS=never --env HEARTH_TEST_CONFIG=serve1 "$tree/test/mpi_served_long" "$case" 2>&1); then
        echo "ok $case"
    else
        echo "FAIL $case"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
done
exit $failed
