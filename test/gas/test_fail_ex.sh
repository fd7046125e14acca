#!/usr/bin/env bash
# Tests bad use of GASNet-EX: it ends the job with one line that names the call and the object, and with a status other than 0;
# with HEARTH_CHECK_ARGS=off a check that the call does not need is omitted. test_fail_ex.sh MPI TREE; tier: full; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -x "$tree/test/gas_ex_objects" ] || { echo "libvgasnet is not built" && exit 77; }

launch() { # case, settings: sets out and status
    local options=()
    for setting in HEARTH_NVM=off ${2:-}; do options+=(--env "$setting"); done
    status=0
    out=$("$here/launch.sh" "$mpi" 2 --timeout 30 "${options[@]}" "$tree/test/gas_ex_objects" "$1" 2>&1) || status=$?
}

fail() { # case, expected
    echo "FAIL $1: exit status $status, expected $2"
    sed 's/^/    | /' <<<"$out"
    failed=1
}

check() { # case, message, settings
    launch "$1" "${3:-}"
    if [ $status != 0 ] && [ $status != 124 ] && grep -q -e "$2" <<<"$out"; then
        echo "ok $1"
    else
        fail "$1" "any but 0 and 124 and: $2"
    fi
}

check rank_that_is_not_in_the_team 'gex_RMA_PutBlockingVal: there is no rank 1 in a team of 1'
check rank_that_is_not_in_the_job 'gex_AM_RequestShort: there is no node 9: the job has 2'
check team_that_was_destroyed 'gex_TM_Destroy: the team of all processes cannot be destroyed'
check pair_in_a_collective_call 'gex_Coll_BarrierNB: the team is a pair of endpoints'
check team_that_is_invalid 'gex_TM_QuerySize: the team is GEX_TM_INVALID'
check put_outside_of_the_segment 'gex_RMA_PutNB: 8 bytes at .* do not lie in the segment of node'
check flags_that_a_call_does_not_have 'gex_RMA_GetBlocking: flags 0x8: the call has no flags 0x8'
check handler_of_the_library 'gex_AM_RequestShort: handler 127 is not a handler of the program'
check defer_in_a_message 'gex_AM_RequestMedium: lc_opt GEX_EVENT_DEFER is not allowed here'
check event_that_is_none 'gex_Event_Wait: GEX_EVENT_NO_OP is not an event'
check request_to_a_handler_of_replies 'sends a Short request with 2 arguments to handler 255, which node . has registered for 0 arguments and Short replies'
check operator_that_a_type_does_not_have 'gex_AD_Create: operators 0x200'
check type_that_is_not_the_domains 'gex_AD_OpNB_U32: the domain has type 0x8, and the call 0x2'
check operator_that_is_not_the_domains 'gex_AD_OpNB_U64: 0x1 is not one of the domain.s operators'
check reduction_without_a_function 'gex_Coll_ReduceToAllNB: user_op is NULL'
check prepare_twice 'gex_AM_PrepareRequestMedium: this thread has prepared a message that is neither committed nor cancelled'
check commit_of_too_much 'gex_AM_CommitRequestMedium: 9 bytes: the message was prepared for 8'

launch flags_that_a_call_does_not_have HEARTH_CHECK_ARGS=off
if [ $status = 0 ]; then echo 'ok HEARTH_CHECK_ARGS=off'; else fail HEARTH_CHECK_ARGS=off 'exit status 0'; fi
exit $failed
