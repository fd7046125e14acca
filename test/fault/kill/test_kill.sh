#!/usr/bin/env bash
# Kills a rank: the launcher ends the job soon, as without the cache, and no rank is left.
#   test_kill.sh MPI TREE      tier: full; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"

check() { # name, options of launch.sh
    if kill_rank "$1" 1 'mpi_random --seconds 40' "${@:2}"; then echo "ok $1"; else failed=1; fi
}

check 'shared memory'
check 'TCP' "${tcp[@]}"
exit $failed
