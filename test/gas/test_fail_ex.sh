#!/usr/bin/env bash
# Tests bad use of GASNet-EX: it ends the job with one line that names the call and the object, and with a status other than 0;
# with HEARTH_CHECK_ARGS=off a check that the call does not need is omitted. test_fail_ex.sh MPI TREE; tier: full; timeout: 300
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
check team_after_its_end 'gex_Coll_BarrierNB: .* is not a team, or no longer one'
check team_whose_list_lacks_the_caller 'gex_TM_Create: this process is not in the list of 1 members that it gives'
check team_of_different_lists 'gex_TM_Create: the . members have given different lists'
check team_of_another_endpoint 'gex_TM_Create: member 0 is endpoint 1: a process has one, with index 0'
check scratch_outside_of_the_segment 'gex_TM_Split: 8 bytes of scratch space at .* do not lie in the segment of this process'
check pair_with_another_endpoint 'gex_TM_Pair: there is no endpoint 1: a process has one, with index 0'
check segment_that_is_none 'gex_Segment_QueryAddr: .* is not a segment of this process'
check endpoint_that_is_invalid 'gex_EP_QuerySegment: .* is not an endpoint of this process'
check client_that_is_invalid 'gex_Client_QueryName: .* is not a client of this process'
check kind_of_memory_that_does_not_exist 'gex_MK_Destroy: .* is not a kind of memory that was created'
check pair_in_a_collective_call 'gex_Coll_BarrierNB: the team is a pair of endpoints'
check team_that_is_invalid 'gex_TM_QuerySize: the team is GEX_TM_INVALID'
check put_outside_of_the_segment 'gex_RMA_PutNB: 8 bytes at .* do not lie in the segment of node'
check get_outside_of_the_segment 'gex_RMA_GetBlocking: 4 bytes at .* do not lie in the segment of node'
check grid_outside_of_the_segment 'gex_VIS_StridedPutBlocking: 8 bytes at .* do not lie in the segment of node'
check lists_of_different_lengths 'gex_VIS_VectorPutBlocking: the destination has 8 bytes and the source 16'
check atomic_outside_of_the_segment 'gex_AD_OpNB_U64: 8 bytes at .* do not lie in the segment of node 0'
check atomic_that_is_not_aligned 'gex_AD_OpNB_U64: .* is not aligned to 8 bytes'
check value_of_no_bytes 'gex_RMA_GetBlockingVal: a value has 1 to 8 bytes, not 9'
check leaf_of_several_categories 'gex_Event_QueryLeaf: 0x3 is not one category of events'
check region_in_a_region 'gex_NBI_BeginAccessRegion: '
check peer_handler_of_the_library 'gex_VIS_SetPeerCompletionHandler: handler 100 is not a handler of the program'
check peer_payload_that_is_too_large 'gex_VIS_SetPeerCompletionHandler: a payload of 1025 bytes at .*: the maximum is 1024'
check payload_that_is_too_large 'gex_AM_RequestMedium: a payload of 1048576 bytes: the maximum is 32768'
check long_outside_of_the_segment 'gex_AM_RequestLong: 1 bytes at .* do not lie in the segment of node 0'
check handler_that_nobody_registered 'active message: node . requests handler 129, which node . has not registered'
check put_in_a_handler 'gex_RMA_PutBlockingVal: not in the handler of a request'
check flags_that_a_call_does_not_have 'gex_RMA_GetBlocking: flags 0x8: the call has no flags 0x8'
check handler_of_the_library 'gex_AM_RequestShort: handler 127 is not a handler of the program'
check defer_in_a_message 'gex_AM_RequestMedium: lc_opt GEX_EVENT_DEFER is not allowed here'
check event_that_is_none 'gex_Event_Wait: GEX_EVENT_NO_OP is not an event'
check request_to_a_handler_of_replies 'sends a Short request with 2 arguments to handler 255, which node . has registered for 0 arguments and Short replies'
check operator_that_a_type_does_not_have 'gex_AD_Create: operators 0x4'
check type_that_is_not_the_domains 'gex_AD_OpNB_U32: the domain has type 0x8, and the call 0x2'
check operator_that_is_not_the_domains 'gex_AD_OpNB_U64: 0x8 is not one of the domain.s operators'
check reduction_without_a_function 'gex_Coll_ReduceToAllNB: user_op is NULL'
check prepare_twice 'gex_AM_PrepareRequestMedium: this thread has prepared a message that is neither committed nor cancelled'
check commit_of_too_much 'gex_AM_CommitRequestMedium: 9 bytes: the message was prepared for 8'

launch flags_that_a_call_does_not_have HEARTH_CHECK_ARGS=off
if [ $status = 0 ]; then echo 'ok HEARTH_CHECK_ARGS=off'; else fail HEARTH_CHECK_ARGS=off 'exit status 0'; fi
exit $failed
