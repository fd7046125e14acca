#!/usr/bin/env bash
# Runs an MPI program on two virtual hosts, with the cache: test_across.sh MPI TREE.   timeout: 60
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2
preload=()
[ "$mpi" != mpich ] || preload=(--preload "$tree/test/nofin.so")
exec "$here/hosts.sh" with 2 "$here/../launch.sh" "$mpi" 2 --hosts n1,n2 --timeout 50 "${preload[@]}" \
    --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_TEST_CONFIG=on --env HEARTH_BYPASS=never "$tree/test/mpi_smoke"
