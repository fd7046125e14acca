#!/usr/bin/env bash
# Mutation test: with one kind of sync event ignored, the litmus tests that rely on it must fail.
#   test_mutants.sh MPI TREE          tier: full; timeout: 300
#
# libhearth-ignoring is the library, built with an acquire that ignores one kind of sync event: HEARTH_TEST_IGNORED=KIND. It lists the
# kinds; a kind without a test here is a failure.
set -uo pipefail
mpi=$1 tree=$2 library=$2/test/libhearth-ignoring.so failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

catchers() { # kind: the tests that rely on it
    case $1 in
    recv) echo recv recv_any sendrecv sendrecv_replace recv_long bsend ssend_recv dup_recv inter_recv two_windows in_flight_join ;;
    send-sync) echo ssend ;;
    probe) echo probe iprobe mprobe improbe ;;
    collective) echo barrier bcast reduce allreduce gather scatter allgather alltoall scan exscan reduce_scatter neighbor_allgather win_free ;;
    request) echo irecv_wait irecv_test irecv_waitall irecv_waitany irecv_waitsome irecv_testall irecv_testany irecv_testsome \
        irecv_get_status issend_wait ssend_persistent recv_persistent rsend ibarrier iallreduce in_flight_waitall ;;
    fence) echo fence fence_put fence_other ;;
    pscw) echo pscw_start pscw_same pscw_wait pscw_win_test ;;
    lock) echo lock_exclusive_flush lock_shared_flush_local lock_unlock lock_all_flush lock_all_unlock_all ;;
    sync) echo own_flag_sync shared_flag_sync shared_own_store ;;
    file) echo file_read ;;
    atomic) echo fetch_and_op fetch_and_op_swap compare_and_swap get_accumulate fetch_and_op_in_flight ;;
    flush-poll) echo own_flag_flush own_flag_flush_all ;;
    recheck) echo remote_flag_flush ;;
    generic) echo comm_split intercomm_merge ;;
    esac
}

mutant() { # kind, tests, options of launch.sh
    local kind=$1 only=() test output
    for test in $2; do only+=(--only "$test"); done
    shift 2
    if [ ${#only[@]} -gt 0 ] &&
        output=$("$here/launch.sh" "$mpi" 2 --timeout 60 "$@" --env HEARTH_MODE=acquire --env HEARTH_BYPASS=never \
            --env "HEARTH_TEST_IGNORED=$kind" --preload "$library" \
            "$tree/test/litmus_cache" --runs 200 --stale "${only[@]}" 2>&1); then
        echo "ok ignoring $kind: found by ${only[*]//--only/}"
    else
        echo "FAIL ignoring $kind: not found by all that should"
        sed 's/^/    | /' <<<"${output:-no test is named for it}"
        failed=1
    fi
}

kinds=$(grep -aoE 'recv\|send-sync[a-z|-]*' "$library" | head -n 1 | tr '|' ' ')
if [ -z "$kinds" ]; then
    echo "$library lists no kinds of sync events"
    exit 1
fi
for kind in $kinds; do mutant "$kind" "$(catchers "$kind")"; done
# Only on Open MPI do MPI_Win_lock and MPI_Win_start return before the lock is held, or the post seen.
if [ "$mpi" = openmpi ]; then
    mutant lock 'lock_returns_early lock_two_return_early' --tcp
    mutant pscw start_returns_early --tcp
fi
exit $failed
