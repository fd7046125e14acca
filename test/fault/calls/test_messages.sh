#!/usr/bin/env bash
# Tests messages for which there is no memory: the calls return MPI_ERR_NO_MEM, one line says so, and the program goes on.
#   test_messages.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ -e "$tree/test/fail.so" ] || { echo "no fail.so: make tests" && exit 1; }
for node in on off; do
    out=$("$here/launch.sh" "$mpi" 2 --timeout 60 --preload "$tree/lib/libhearth-mpi.so" --preload "$tree/test/fail.so" --env HEARTH_MATCH=on \
        --env HEARTH_MATCH_NODE=$node "$tree/test/fault_messages" 2>&1)
    status=$?
    if [ $status = 0 ] && [ "$(grep -c 'no memory for a message or its request' <<<"$out")" = 1 ]; then
        echo "ok HEARTH_MATCH_NODE=$node"
    else
        echo "FAIL HEARTH_MATCH_NODE=$node: exit status $status"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
done
exit $failed
