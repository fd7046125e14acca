#!/usr/bin/env bash
# A rank is killed outright: the launcher ends the job soon, as it does without the cache, and no rank stays behind.
#   test_kill.sh MPI TREE      tier: full; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

no_rank_alive() {
    ! xargs -r ps -o pid= -p <"$dir/pids" | grep -q .
}

wait_for() { # tenths of a second, command
    local i
    for ((i = 0; i < $1; i++)); do
        "${@:2}" && return 0
        sleep 0.1
    done
    return 1
}

both_started() {
    [ "$(wc -l <"$dir/pids")" = 2 ]
}

check() { # what, options of launch.sh
    local start status=0
    : >"$dir/pids"
    "$here/launch.sh" "$mpi" 2 --timeout 50 "${@:2}" --preload "$tree/lib/libhearth-mpi.so" \
        sh -c "echo \$\$ >>$dir/pids; exec $tree/test/mpi_random --seconds 40" >"$dir/out" 2>&1 &
    wait_for 100 both_started
    sleep 1
    start=$SECONDS
    kill -9 "$(head -n 1 "$dir/pids")"
    wait $! || status=$?
    if [ $status != 0 ] && [ $((SECONDS - start)) -le 20 ] && wait_for 50 no_rank_alive; then
        echo "ok $1"
    else
        echo "FAIL $1: exit status $status after $((SECONDS - start)) s, ranks left: $(paste -sd ' ' "$dir/pids")"
        sed 's/^/    | /' "$dir/out"
        failed=1
    fi
}

tcp=(--tcp)
[ "$mpi" != mpich ] || tcp+=(--preload "$tree/test/nofin.so")
check 'shared memory'
check 'TCP' "${tcp[@]}"
exit $failed
