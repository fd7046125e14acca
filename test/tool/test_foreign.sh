#!/usr/bin/env bash
# Preloads the library of the other MPI: one line of the job says so, with the remedy, and the job ends. No rank
# crashes.
#   test_foreign.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
other=openmpi name='Open MPI'
[ "$mpi" = mpich ] || other=mpich name=MPICH
library=$(dirname "$tree")/$other/lib/libhearth-mpi.so
[ -e "$library" ] || { echo "only one MPI is built" && exit 77; }

check() { # name, command...
    local what=$1 out status=0
    shift
    out=$("$here/launch.sh" "$mpi" 2 --timeout 30 --preload "$library" "$@" 2>&1) || status=$?
    if [ $status != 0 ] && [ $status != 124 ] && [ "$(grep -c "hearth.*error: .* is built for $name, but the program uses" <<<"$out")" = 1 ] &&
        ! grep -qE 'signal|Segmentation|EXIT CODE: 1[0-9][0-9]' <<<"$out"; then
        echo "ok $what"
    else
        echo "FAIL $what: exit status $status, expected one line and no crash"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

check 'a program in C' "$tree/test/mpi_smoke"
if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then # which loads its MPI late
    check 'a program in Python' /usr/bin/python3 -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.rank)'
fi
# A process without MPI, such as a shell that inherits the variable, is not affected.
[ "$(LD_PRELOAD=$library sh -c 'echo fine' 2>&1)" = fine ] && echo 'ok no MPI' || { echo 'FAIL no MPI' && failed=1; }
exit $failed
