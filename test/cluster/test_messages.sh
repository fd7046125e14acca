#!/usr/bin/env bash
# Tests messages on two virtual hosts with two ranks each, so that both paths are used at once: shared memory inside a
# host, MPI between hosts.   test_messages.sh MPI TREE      quick: openmpi; timeout: 240; busy: openmpi
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 failed=0

if [ "${3:-}" != inside ]; then
    exec "$here/hosts.sh" with 2 "$0" "$mpi" "$tree" inside
fi
options=(--hosts "n1,n2" --timeout 100)
options+=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on --env HEARTH_TEST_CONFIG=across)

run() { # program and arguments
    local out
    if out=$("$here/../launch.sh" "$mpi" 4 "${options[@]}" "$tree/test/$1" "${@:2}" 2>&1); then
        echo "ok $*"
    else
        echo "FAIL $*"
        tail -n 15 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
}

seconds=1
[ "${HEARTH_TEST_TIER:-}" != quick ] || seconds=0.3
run p2p_order half_of_them_posted
run p2p_suite --programs wildcards,probe,comms,gather
run p2p_inside barrier_ comm_dup win_fence win_test sendrecv foreign_communicator foreign_mrecv
run p2p_wake tests_of_a_send a_stream_from_elsewhere
run p2p_finalize
run p2p_random --seconds $seconds
run p2p_large --seconds 1 one_way both_ways
exit $failed
