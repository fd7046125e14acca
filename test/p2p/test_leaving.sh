#!/usr/bin/env bash
# Starts and ends a short program between nodes over TCP again and again, without the library that keeps MPICH from hanging in MPI_Finalize
# (cluster/nofin.c): no process may answer one that closes its connections there before it closes its own.
#   test_leaving.sh MPI TREE      tier: full; timeout: 200; busy: mpich
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 jobs=30 failed=0
unset HEARTH_TEST_NOFIN

for ((i = 0; i < jobs; i++)); do
    "$here/../launch.sh" "$mpi" 2 --tcp --timeout 15 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on --env HEARTH_NODE_RANKS=1 \
        --env HEARTH_TEST_CONFIG=link "$tree/test/p2p_suite" --programs status >/dev/null 2>&1 || failed=$((failed + 1))
done
echo "$failed of $jobs jobs failed or did not end"
[ $failed = 0 ]
