#!/usr/bin/env bash
# Tests errors that a call cannot return: they end the job with one line that names the error, and with a status other
# than 0. test_fail.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -x "$tree/test/armci_messages" ] || { echo "libarmci is not built" && exit 77; }

check() { # program, case, status (empty: any but 0), message
    local out status=0
    out=$("$here/launch.sh" "$mpi" 2 --timeout 30 --env HEARTH_TEST_CONFIG=node "$tree/test/armci_$1" "$2" 2>&1) || status=$?
    if [ $status != 0 ] && [ $status != 124 ] && [ $status = "${3:-$status}" ] && grep -q -e "$4" <<<"$out"; then
        echo "ok $2"
    else
        echo "FAIL $2: exit status $status, expected ${3:-any but 0 and 124} and: $4"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

check messages error_ends_the_job '' 'error: ARMCI_Error: the program says so (code 0)'
check messages abort_ends_the_job 7 ''
check messages no_such_root '' 'armci_msg_bcast: process 2 does not take part'
check groups list_names_a_stranger '' 'ARMCI_Group_create: process 2, number 1 of the list, is not one of the 2'
check groups list_names_one_twice '' 'ARMCI_Group_create: process 0 is twice in the list'
check reduce no_such_operation '' 'armci_msg_igop: operation "median" is unknown'
check reduce bits_of_a_double '' 'armci_msg_dgop: operation "or" is not defined for floating-point'
exit $failed
