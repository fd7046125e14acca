#!/usr/bin/env bash
# Runs programs without eager messages, so that no data is sent before its receive is posted, inside a node and between nodes,
# through MPI and through Hearth's network; and with as many eager messages as possible. Programs in which all ranks send before they receive cannot run without eager
# messages.   test_eager.sh MPI TREE      quick: openmpi; timeout: 300
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 failed=0

run() { # settings as one word, program, its options and cases
    local out setting options=(--timeout 120 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on)
    for setting in $1; do options+=(--env "$setting"); done
    if out=$("$here/../launch.sh" "$mpi" 2 "${options[@]}" "$tree/test/$2" "${@:3}" 2>&1); then
        echo "ok $1: ${*:2}"
    else
        echo "FAIL $1: ${*:2}"
        tail -n 15 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
}

seconds=1
[ "${HEARTH_TEST_TIER:-}" != quick ] || seconds=0.3
none='HEARTH_MATCH_EAGER=0 HEARTH_MATCH_REMOTE_EAGER=0'
for settings in "$none HEARTH_TEST_CONFIG=match" "$none HEARTH_MATCH_NODE=off HEARTH_TEST_CONFIG=host" \
    "$none HEARTH_NODE_RANKS=1 HEARTH_TEST_CONFIG=link"; do
    run "$settings" p2p_random --seconds $seconds
    run "$settings" p2p_suite --programs modes,sendrecv
    run "$settings" p2p_suite --programs order,types,large,inside half_of_them_posted attributes_are_not_copied every_border barrier_ comm_dup
done
run 'HEARTH_MATCH_EAGER=1g HEARTH_TEST_CONFIG=match' p2p_large every_border
exit $failed
