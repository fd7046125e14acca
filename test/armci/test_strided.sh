#!/usr/bin/env bash
# Runs random operations with strided transfers between nodes row by row, and as lists of rows (HEARTH_ARMCI_STRIDED), with a
# report.
#   test_strided.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ -x "$tree/test/armci_random" ] || { echo "libarmci is not built" && exit 77; }
for way in rows lists; do
    out=$("$here/launch.sh" "$mpi" 2 --timeout 60 --env HEARTH_NODE_RANKS=1 --env HEARTH_TEST_CONFIG=nodes1 --env HEARTH_ARMCI_STRIDED=$way \
        --env HEARTH_REPORT="$dir/$way.json" "$tree/test/armci_random" --seconds 0.5 2>&1)
    status=$?
    if [ $status = 0 ] && "$tree/bin/hearth" report "$dir/$way.json" >"$dir/$way" && grep -q 'ARMCI' "$dir/$way"; then
        echo "ok $way"
    else
        echo "FAIL $way: exit status $status"
        sed 's/^/    | /' <<<"$out"
        cat "$dir/$way"
        failed=1
    fi
done
exit $failed
