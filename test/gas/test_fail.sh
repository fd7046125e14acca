#!/usr/bin/env bash
# Tests errors that a call cannot return: they end the job with one line that names the error, and with a status other
# than 0. test_fail.sh MPI TREE; quick: mpich; timeout: 120; waits: yes
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -x "$tree/test/gas_rules" ] || { echo "libvgasnet is not built" && exit 77; }

check() { # program, case, message, settings
    local out status=0 options=()
    for setting in HEARTH_NVM=off ${4:-}; do options+=(--env "$setting"); done
    out=$("$here/launch.sh" "$mpi" 2 --timeout 30 "${options[@]}" "$tree/test/gas_$1" "$2" 2>&1) || status=$?
    if [ $status != 0 ] && [ $status != 124 ] && grep -q -e "$3" <<<"$out"; then
        echo "ok $2"
    else
        echo "FAIL $2: exit status $status, expected any but 0 and 124 and: $3"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

check rules request_in_a_handler 'gasnet_AMRequestShort: not in the handler of a request'
check rules poll_in_a_handler 'gasnet_AMPoll: not in the handler of a request'
check rules barrier_in_a_handler 'gasnet_barrier_notify: not in the handler of a request'
check rules handler_keeps_a_lock 'handler 146 returns and still holds 1 handler-safe lock' HEARTH_GASNET_RULES=end
check rules poll_with_a_lock 'gasnet_AMPoll: not while the thread holds a handler-safe lock' HEARTH_GASNET_RULES=end
check rules wait_with_a_lock 'GASNET_BLOCKUNTIL: not while the thread holds a handler-safe lock' HEARTH_GASNET_RULES=end
check rules lock_twice 'gasnet_hsl_lock: this thread already holds the lock'
check rules unlock_what_is_not_locked 'gasnet_hsl_unlock: this thread does not hold the lock'
check rules destroy_while_locked 'gasnet_hsl_destroy: the lock at' HEARTH_GASNET_RULES=end
check rules poll_with_interrupts_held 'gasnet_AMPoll: not between gasnet_hold_interrupts and gasnet_resume_interrupts' HEARTH_GASNET_RULES=end
check rules hold_twice 'gasnet_hold_interrupts: they are already held' HEARTH_GASNET_RULES=end
check rules resume_what_is_not_held 'gasnet_resume_interrupts: they are not held' HEARTH_GASNET_RULES=end
check rules handler_that_is_not_there 'requests handler 250, which node'
check barrier double_notify 'gasnet_barrier_notify: the last barrier was not waited for'
check barrier wait_without_notify 'gasnet_barrier_wait: there is no barrier to wait for'
check rma put_outside_of_the_segment 'gasnet_put: 8 bytes at .* do not lie in the segment of node'
check rma get_outside_of_the_segment 'gasnet_get_nbi: 8 bytes at .* do not lie in the segment of node'
check rma node_that_is_not_there 'gasnet_memset: there is no node 2: the job has 2'
check sync region_in_a_region 'gasnet_begin_nbi_accessregion: an access region is open'
check sync implicit_sync_in_a_region 'gasnet_wait_syncnbi_all: an access region is open'
check sync end_without_a_region 'gasnet_end_nbi_accessregion: no access region is open'
check values value_of_nine_bytes 'gasnet_put_val: a value has 1 to 8 bytes, not 9'
check values value_of_no_bytes 'gasnet_get_val: a value has 1 to 8 bytes, not 0'
check silence a_node_that_does_not_answer 'node 1 has not answered for 2 s' 'HEARTH_NVM=on HEARTH_NODE_RANKS=1'
check vis lists_of_different_sizes 'gasnet_putv_bulk: the destination has 8 bytes and the source 9'
check vis outside_of_the_segment 'gasnet_puti_nb_bulk: 8 bytes at .* do not lie in the segment of node 0'
check images image_of_another_node 'gasnet_coll_init: image 5 is not on node'
check images thread_without_an_image 'gasnet_coll_broadcast: this thread has no image'
check coll image_that_is_not_there 'gasnet_coll_broadcast: there is no image 2 in a team of 2'
check coll function_that_is_not_there 'gasnet_coll_reduce: function 2 is not one of the 2'
check coll notify_twice 'gasnet_coll_barrier_notify: the last barrier of this team was not waited for'
check coll different_calls 'gasnet_coll_broadcast: node 0 makes a different call'
check coll aggregate_that_blocks 'gasnet_coll_broadcast: GASNET_COLL_AGGREGATE is for calls that return'
check coll scan_that_blocks_with_aggregate 'gasnet_coll_scan: GASNET_COLL_AGGREGATE is for calls that return'
check coll split_of_no_team 'gasnet_coll_team_split: the team handle is NULL'
exit $failed
