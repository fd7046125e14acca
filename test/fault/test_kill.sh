#!/usr/bin/env bash
# A rank is killed outright: the launcher ends the job soon, as it does without the cache, and no rank stays behind.
#   test_kill.sh MPI TREE      tier: full; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/kill.sh"

check() { # what, options of launch.sh
    if kill_rank "$1" 1 'mpi_random --seconds 40' "${@:2}"; then echo "ok $1"; else failed=1; fi
}

check 'shared memory'
check 'TCP' "${tcp[@]}"
exit $failed
