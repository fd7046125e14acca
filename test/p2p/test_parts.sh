#!/usr/bin/env bash
# Runs p2p_parts with a mutant of the library in which MPI packs at most a million bytes in one call, so that its messages have
# several parts.   test_parts.sh MPI TREE      timeout: 120
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 failed=0

for settings in 'HEARTH_TEST_CONFIG=match' 'HEARTH_MATCH_NODE=off HEARTH_TEST_CONFIG=host'; do
    options=()
    for setting in $settings; do options+=(--env "$setting"); done
    if out=$("$here/../launch.sh" "$mpi" 2 --timeout 50 --preload "$tree/test/libhearth-parts.so" --env HEARTH_MATCH=on "${options[@]}" \
        "$tree/test/p2p_parts" 2>&1); then
        echo "ok $settings"
    else
        echo "FAIL $settings"
        tail -n 15 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
done
exit $failed
