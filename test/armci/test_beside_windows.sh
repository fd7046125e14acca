#!/usr/bin/env bash
# ARMCI and served windows in one process: one helper serves both, whichever is opened first, over UCX and over MPI; results are
# right, also after one of the two is closed and opened again.
#   test_beside_windows.sh MPI TREE      timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

check() { # name, arguments, K=V...
    local out status=0 env=()
    for e in "${@:3}"; do env+=(--env "$e"); done
    # shellcheck disable=SC2086 # arguments are words
    out=$("$here/launch.sh" "$mpi" 2 --timeout 60 --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 --env HEARTH_LOG=debug "${env[@]}" \
        --preload "$tree/lib/libhearth-mpi.so" "$tree/test/beside_windows" $2 2>&1) || status=$?
    if [ $status = 0 ] && grep -qE "^threads [0-9]+ more 0 sockets [0-9]+ more 0\$" <<<"$out" && ! grep -q FAIL <<<"$out" &&
        [ "$(grep -cE 'windows across nodes use the helper of ARMCI|ARMCI uses the helper of served windows' <<<"$out")" -ge 2 ]; then
        echo "ok $1"
        return
    fi
    echo "FAIL $1: exit status $status"
    sed 's/^/    | /' <<<"$out"
    failed=1
}

# The helper calls MPI only if messages go through it: in the quick tier MPICH tests that alone, if Open MPI is there, which tests each of the rest
# once: with threads where MPI is opened early.
quick='' some=''
[ "${HEARTH_TEST_TIER:-}" != quick ] || quick=yes
[ "$mpi.$quick" != mpich.yes ] || ! "$here/../packaging/mpis.sh" openmpi >/dev/null || some=yes
for order in armci windows; do
    check "$order first, over MPI" "$order early threads" HEARTH_NET=mpi
    [ -z "$some" ] || continue
    check "$order first" "$order late"
    check "$order first, ARMCI twice" "$order again"
    check "$order first, with threads, ARMCI is finalised first" "$order early threads"
    [ -n "$quick" ] || check "$order first, ARMCI is finalised first" "$order early"
done
exit $failed
