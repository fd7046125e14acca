#!/usr/bin/env bash
# Tests served windows without shared memory on some ranks: MPI serves the windows and allocates the memory of MPI_Alloc_mem,
# one line for each of these ranks says so, and the results do not change.
#   test_served_memory.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

check() { # name, rank that is refused, number of lines, program
    local out status lines
    out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/test/nomemory.so" --preload "$tree/lib/libhearth-mpi.so" \
        --env HEARTH_WINDOWS=serve --env HEARTH_TEST_CONFIG=off --env TEST_REFUSED="$2" "$tree/test/$4" 2>&1)
    status=$?
    lines=$(grep -c 'windows are left to MPI' <<<"$out")
    if [ "$status" != 0 ] || [ "$lines" != "$3" ] || grep -q 'hearth.*error' <<<"$out"; then
        echo "FAIL $1: exit status $status, $lines lines that say so, expected $3"
        sed 's/^/    | /' <<<"$out"
        failed=1
    else
        echo "ok $1"
    fi
}

for program in mpi_served_windows mpi_served_alloc; do
    check "$program, enough for all" none 0 $program
    check "$program, none for any rank" all 2 $program
    check "$program, none for rank 1" 1 1 $program
done
exit $failed
