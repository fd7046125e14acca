#!/usr/bin/env bash
# Tests that Open MPI's PMIx plugin stays loaded after MPI_Finalize under Hearth: see mpi/host/resident.h. Other tests keep it by
# themselves (cluster/keep.c).
#   test_finalized.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ "$mpi" = openmpi ] || { echo 'MPICH has no such plugin' && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$("$here/../packaging/mpis.sh" "$mpi")" -O1 -D_GNU_SOURCE "$here/mpi/finalized.c" -o "$dir/finalized" || exit 1
unset HEARTH_TEST_KEEP
if "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" "$dir/finalized"; then
    echo 'ok it stays loaded'
else
    echo 'FAIL it is unloaded' && exit 1
fi
