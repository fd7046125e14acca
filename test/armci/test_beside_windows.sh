#!/usr/bin/env bash
# ARMCI and served windows in one process: one helper serves both, whichever is opened first, over UCX and over MPI; results are
# right, also after one of the two is closed and opened again. Libraries of different builds have a helper each.
#   test_beside_windows.sh MPI TREE      timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
library=$tree/lib/libhearth-mpi.so helpers=1

check() { # name, arguments, K=V...
    local out status=0 env=() more='[1-9][0-9]*' joined=0
    for e in "${@:3}"; do env+=(--env "$e"); done
    [ $helpers = 2 ] || more=0 joined=2
    # shellcheck disable=SC2086 # arguments are words
    out=$("$here/launch.sh" "$mpi" 2 --timeout 60 --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 --env HEARTH_LOG=debug "${env[@]}" \
        --preload "$library" "$tree/test/beside_windows" $2 2>&1) || status=$?
    if [ $status = 0 ] && grep -qE "^threads [0-9]+ more $more sockets [0-9]+ more $more\$" <<<"$out" && ! grep -q FAIL <<<"$out" &&
        [ "$(grep -cE 'windows across nodes use the helper of ARMCI|ARMCI uses the helper of served windows' <<<"$out")" -ge $joined ]; then
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
[ -z "$some" ] || exit $failed

# A library of another build: with another id, of the same length.
id=$(sed -n 's/.*"\(.*\)".*/\1/p' "$tree/src/net/build_id.h")
sed "s/$id/${id//[0-9]/x}/g" "$library" >"$dir/libhearth-mpi.so"
sed "s/$id/${id//[0-9]/x}/g" "$tree/lib/libhearth-serve.so" >"$dir/libhearth-serve.so"
library=$dir/libhearth-mpi.so helpers=2
check 'armci first, another build' 'armci early'
[ -n "$quick" ] || check 'windows first, another build' 'windows early'
exit $failed
