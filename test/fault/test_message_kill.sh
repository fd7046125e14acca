#!/usr/bin/env bash
# A rank is killed outright while messages are under way: the launcher ends the job soon, as it does without Hearth, no
# rank stays behind, and nothing is left in /dev/shm.   test_message_kill.sh MPI TREE      tier: full; timeout: 120
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

all_started() {
    [ "$(wc -l <"$dir/pids")" = 2 ]
}

ours() { # what Hearth has in /dev/shm
    find /dev/shm -maxdepth 1 -iname '*hearth*' 2>/dev/null | sort
}

check() { # what, rank to be killed as a line of the list, options of launch.sh
    local start status=0 before
    before=$(ours)
    : >"$dir/pids"
    "$here/launch.sh" "$mpi" 2 --timeout 50 "${@:3}" --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on \
        sh -c "echo \$\$ >>$dir/pids; exec $tree/test/p2p_random --seconds 40" >"$dir/out" 2>&1 &
    wait_for 100 all_started
    sleep 1.5
    start=$SECONDS
    kill -9 "$(sed -n "$2p" "$dir/pids")"
    wait $! || status=$?
    if [ $status = 0 ] || [ $((SECONDS - start)) -gt 20 ] || ! wait_for 50 no_rank_alive; then
        echo "FAIL $1: exit status $status after $((SECONDS - start)) s, ranks left: $(paste -sd ' ' "$dir/pids")"
        sed 's/^/    | /' "$dir/out"
        failed=1
    elif [ "$(ours)" != "$before" ]; then
        echo "FAIL $1: left in /dev/shm: $(ours | paste -sd ' ')"
        failed=1
    else
        echo "ok $1"
    fi
}

tcp=(--tcp)
[ "$mpi" != mpich ] || tcp+=(--preload "$tree/test/nofin.so")
check 'shared memory, one rank' 1
check 'shared memory, the other' 2
check 'through MPI' 1 --env HEARTH_MATCH_NODE=off
check 'through MPI over TCP' 2 --env HEARTH_MATCH_NODE=off "${tcp[@]}"
exit $failed
