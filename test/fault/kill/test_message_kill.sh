#!/usr/bin/env bash
# Kills a rank while messages are pending: the launcher ends the job soon, as without Hearth, no rank is left, and
# nothing is left in /dev/shm.   test_message_kill.sh MPI TREE      tier: full; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/../own_shm.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"

check() { # name, rank to kill as a line number of the list, options of launch.sh
    if ! kill_rank "$1" "$2" 'p2p_random --seconds 40' "${@:3}" --env HEARTH_MATCH=on; then
        failed=1
    elif [ -n "$(left_in_shm)" ]; then
        echo "FAIL $1: left in /dev/shm: $(left_in_shm)"
        failed=1
    else
        echo "ok $1"
    fi
}

check 'shared memory, one rank' 1
check 'shared memory, the other' 2
check 'through MPI' 1 --env HEARTH_MATCH_NODE=off
check 'through MPI over TCP' 2 --env HEARTH_MATCH_NODE=off "${tcp[@]}"
exit $failed
