#!/usr/bin/env bash
# Kills a rank in the middle of each kind of operation on windows that Hearth serves: inside a node, between nodes over UCX, and
# between nodes over MPI. The job ends soon, a line says why, no rank is left, and nothing is left in /dev/shm.
#   test_served_kill.sh MPI TREE [KIND [NETWORK]]      tier: full; timeout: 240
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../own_shm.sh"
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"

kinds='put get accumulate get_accumulate fetch_and_op compare_and_swap lock_exclusive lock_all fence post_start create_and_free put:created
    get:created accumulate:created'
declare -A options=([node]='' [ucx]='--env HEARTH_NODE_RANKS=1' [mpi]='--env HEARTH_NODE_RANKS=1 --env HEARTH_NET=mpi')

began() {
    [ "$(wc -l <"$dir/running")" = 2 ]
}

check() { # kind, network, line of the rank in the list
    local what="$1, $2" left
    : >"$dir/running"
    # shellcheck disable=SC2086 # options are words
    kill_rank "$what" "$3" "served_killed $1 $dir/running" --env HEARTH_WINDOWS=serve --env HEARTH_LOG=info ${options[$2]} || return 1
    left=$(left_in_shm)
    if [ -n "$left" ]; then
        echo "FAIL $what: left in /dev/shm: $left"
    elif ! began; then
        echo "FAIL $what: not all ranks began to operate"
    elif grep -q 'left to MPI' "$dir/out"; then
        echo "FAIL $what: the window is not served"
    elif ! grep -qiE 'windows: rank [01] cannot be reached: .*; the job is ended|has its process ended|is for a rank that has ended|signal 9' "$dir/out"; then
        echo "FAIL $what: no line says why the job ended"
    else
        echo "ok $what"
        return 0
    fi
    sed 's/^/    | /' "$dir/out"
    return 1
}

line=1
for network in ${4:-node ucx mpi}; do
    for kind in ${3:-$kinds}; do
        check "$kind" "$network" $line || failed=1
        line=$((3 - line))
    done
done
exit $failed
