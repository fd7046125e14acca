#!/usr/bin/env bash
# Tests every way to end a job: its status, that it ends soon, and that its output is complete. test_exit.sh MPI TREE;
# timeout: 400
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$here/launcher_status.sh"
. "$here/beside.sh"
[ -x "$tree/test/leave_gas" ] || { echo "libvgasnet is not built" && exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

most=60 # seconds until a job ends, also on a busy machine; a job that waits for a node that is gone would take longer
check() { # way to end, status, settings
    local out status=0 start=$EPOCHREALTIME took options=()
    for setting in HEARTH_NVM=off "HEARTH_NVM_DIR=$dir" ${3:-}; do options+=(--env "$setting"); done
    out=$("$here/launch.sh" "$mpi" 2 --timeout 120 "${options[@]}" "$tree/test/leave_gas" "$1" 2>&1) || status=$?
    took=$(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 1000000))
    case $1 in quit_*) grep -q 'SIGQUIT handled by node 0' <<<"$out" || status="$status, no handler of SIGQUIT ran" ;; esac
    case $1 in *before_attach | alone_among_busy | exit_in_signal | quit_without_lock) ;; *) grep -q 'said before the end' <<<"$out" || status="$status, nothing printed" ;; esac
    if status_fits "$mpi" "$status" "$2" && [ $took -le $most ]; then
        echo "ok $1 ${3:-}: status $status, $took s"
    else
        echo "FAIL $1 ${3:-}: status $status, $took s; expected $2 within $most s"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

# Hearth does the same on both MPIs. The quick tier ends jobs on one node with the one, jobs on two nodes with the other, if both are there; jobs
# whose segments are in pages with the first, and ways that differ from another in the signal or the status only, or in what else is under way.
places=('' HEARTH_NODE_RANKS=1) few='' locals=(signal userfault) variants=(together_0:0 quit_by_sigint:9 sigint:130 return_1:1 mpi_return:0 child:0)
if [ "${HEARTH_TEST_TIER:-}.${tree##*/}" = "quick.$mpi" ] && [ "$("$here/../packaging/mpis.sh" | wc -l)" = 2 ]; then
    case $mpi in openmpi) places=('') ;; *) places=(HEARTH_NODE_RANKS=1) few=yes locals=() variants=() ;; esac
fi
[ "$mpi" = openmpi ] || at_once=1 # the ranks of MPICH never yield their cores
for nodes in "${places[@]}"; do
    beside check together 5 $nodes
    beside check alone 9 $nodes
    [ -n "$few" ] || beside check alone_in_barrier 9 $nodes
    [ -n "$few" ] || beside check quit_among_busy 9 $nodes
    beside check quit_by_sigterm 9 $nodes
    [ -n "$few" ] || beside check quit_all_by_sigint 9 $nodes
    beside check sigterm 143 $nodes
    beside check in_thread 6 $nodes
    [ -n "$few" ] || beside check beside_a_thread_that_polls 7 $nodes
    beside check beside_a_thread_that_puts 7 $nodes
    [ -n "$few" ] || beside check beside_a_thread_that_sends 7 $nodes
    [ -n "$few" ] || beside check in_handler 8 $nodes
    beside check return 0 $nodes
    [ -n "$few" ] || beside check return_late 0 $nodes
    beside check return_1_alone 1 $nodes
    beside check mpi_finalize 0 $nodes
    for way in "${variants[@]}"; do beside check "${way%:*}" "${way#*:}" $nodes; done
done
for local in "${locals[@]}"; do
    paged="HEARTH_NVM=on HEARTH_NODE_RANKS=1 HEARTH_LOCAL=$local"
    beside check beside_a_thread_that_loads 7 "$paged"
    beside check return_beside_a_thread_that_loads 0 "$paged"
    beside check beside_a_thread_that_puts 7 "$paged"
done
if [ ${#locals[@]} -gt 0 ]; then
    beside check exit_in_signal 7 HEARTH_NVM=on
    beside check exit_in_fault 7 'HEARTH_NVM=on HEARTH_NVM_NAME=exit' # a put of the interrupted call holds a page that is to be saved
fi
[ "${HEARTH_TEST_TIER:-}" = quick ] || beside check quit_without_lock 9 # after 12 s
beside check exit_0 0
beside check before_attach 4
beside check return_before_attach 0
beside check alone_among_busy 9
beside check together 5 'HEARTH_NODE_RANKS=1 HEARTH_NET=mpi'
beside check return 0 'HEARTH_NODE_RANKS=1 HEARTH_NET=mpi'
wait_beside
exit $failed
