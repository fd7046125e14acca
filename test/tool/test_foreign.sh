#!/usr/bin/env bash
# Preloads the library of the other MPI: one line of the job says so, with the remedy, and the program runs without Hearth, or ends
# if it loads its MPI late. No rank crashes.
#   test_foreign.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
other=openmpi name='Open MPI'
[ "$mpi" = mpich ] || other=mpich name=MPICH
trees=$(dirname "$tree")
library=$trees/$other/lib/libhearth-mpi.so
[ -e "$library" ] || { echo "only one MPI is built" && exit 77; }

check() { # name, whether it ends well (0 or 1), level and end of the line, command...
    local what=$1 well=$2 level=$3 outcome=$4 out status=0
    shift 4
    out=$("$here/launch.sh" "$mpi" 2 --timeout 30 --preload "$library" "$@" 2>&1) || status=$?
    if [ $((status != 0)) = "$well" ] && [ $status != 124 ] && [ "$(grep -c '^hearth' <<<"$out")" = 1 ] &&
        [ "$(grep -c "hearth.*$level: .* is built for $name, but the program uses .*; $outcome: " <<<"$out")" = 1 ] &&
        ! grep -qE 'signal|Segmentation|EXIT CODE: 1[0-9][0-9]' <<<"$out"; then
        echo "ok $what"
    else
        echo "FAIL $what: exit status $status, expected one line and no crash"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

programs() {
    check 'a program in C' 0 warning 'it runs without Hearth' "$tree/test/mpi_smoke"
    out=$("$here/launch.sh" "$mpi" 2 --preload "$library" "$tree/test/mpi_smoke" fence 2>&1)
    grep -q '^== smoke: ok, 1 cases' <<<"$out" && echo 'ok its arguments stay' ||
        { echo 'FAIL its arguments stay' && sed 's/^/    | /' <<<"$out" && failed=1; }
    if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then # which loads its MPI late
        check 'a program in Python' 1 error 'it ends' /usr/bin/python3 -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.rank)'
    fi
}
programs
# A process without MPI, such as a shell that inherits the variable, is not affected.
[ "$(LD_PRELOAD=$library sh -c 'echo fine' 2>&1)" = fine ] && echo 'ok no MPI' || { echo 'FAIL no MPI' && failed=1; }
library=$trees/abi/lib/libhearth-mpi.so name='the standard ABI of MPI 5.0'
[ ! -e "$library" ] || programs
exit $failed
