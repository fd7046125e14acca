#!/usr/bin/env bash
# Programs that matter most where messages come through MPI, as between nodes.   test_remote.sh MPI TREE      timeout: 240
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 failed=0

run() { # ranks, program and arguments
    local out
    if out=$("$here/../launch.sh" "$mpi" "$1" --timeout 100 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on \
        --env HEARTH_MATCH_NODE=off --env HEARTH_TEST_CONFIG=host --env HEARTH_BYPASS=never "$tree/test/$2" "${@:3}" 2>&1); then
        echo "ok $*"
    else
        echo "FAIL $*"
        tail -n 25 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
}

run 2 p2p_collectives
run 2 p2p_waits
run 2 p2p_foreign
run 2 p2p_completion
run 2 p2p_flood what_was_sent_leaves
exit $failed
