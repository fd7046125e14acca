#!/usr/bin/env bash
# Tests served windows across nodes where the MPI creates no window over existing memory, as Debian's Open MPI between hosts: Hearth
# synchronises the ranks itself (serve_sync.c), and the results do not change.
#   test_served_stand_in.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
[ "$mpi" = openmpi ] || { echo "MPICH creates such windows between hosts" && exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --preload "$tree/lib/libhearth-serve.so" \
    --preload "$tree/test/fail.so" --env TEST_FAIL=windows:1:on --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 \
    --env HEARTH_TEST_CONFIG=tiny --env HEARTH_LOG=debug "$tree/test/mpi_sync" fence post_start_complete_wait post_start_complete_test \
    post_with_assertions 2>&1)
status=$?
# A window that is not served sends no blocks.
served=$(grep -cE 'windows across nodes: sent [1-9][0-9]* blocks' <<<"$out")
if [ $status != 0 ] || [ "$served" != 2 ]; then
    echo "FAIL exit status $status; windows are served on $served ranks of 2"
    sed 's/^/    | /' <<<"$out"
    failed=1
fi
exit $failed
