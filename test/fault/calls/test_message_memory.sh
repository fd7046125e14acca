#!/usr/bin/env bash
# Tests a job without shared memory for messages: they go through MPI, one line says so, and the results do not
# change.
#   test_message_memory.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

run() { # ranks, rank that is refused
    "$here/launch.sh" "$mpi" "$1" --preload "$tree/test/nomemory.so" --preload "$tree/lib/libhearth-mpi.so" \
        --env HEARTH_MATCH=on --env HEARTH_TEST_CONFIG=host --env TEST_REFUSED="$2" "$tree/test/p2p_modes" 2>&1
}

check() { # name, whether a line is expected, exit status, output
    local lines
    lines=$(grep -c 'no shared memory for messages' <<<"$4")
    if [ "$3" != 0 ] || [ "$lines" != "$2" ]; then
        echo "FAIL $1: exit status $3, $lines lines that say so, expected $2"
        sed 's/^/    | /' <<<"$4"
        failed=1
    else
        echo "ok $1"
    fi
}

out=$(run 2 none)
check 'enough for all' 0 $? "$out"
out=$(run 2 all)
check 'none for any rank' 1 $? "$out"
out=$(run 2 0)
check 'none for the first' 1 $? "$out"
out=$(run 3 2)
check 'none for the last of three' 1 $? "$out"
exit $failed
