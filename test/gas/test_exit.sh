#!/usr/bin/env bash
# Every way to end a job: what status it has, that it is over soon, and that what was printed is seen.
# test_exit.sh MPI TREE; timeout: 240
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -x "$tree/test/leave_gas" ] || { echo "libvgasnet is not built" && exit 77; }

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

check() { # way to end, status, most seconds, settings
    local out status=0 start=$EPOCHREALTIME took options=()
    for setting in HEARTH_NVM=off "HEARTH_NVM_DIR=$dir" ${4:-}; do options+=(--env "$setting"); done
    out=$("$here/launch.sh" "$mpi" 2 --timeout 40 "${options[@]}" "$tree/test/leave_gas" "$1" 2>&1) || status=$?
    took=$(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 1000000))
    case $1 in quit_*) grep -q 'SIGQUIT handled by node 0' <<<"$out" || status="$status, no handler of SIGQUIT ran" ;; esac
    case $1 in *before_attach | alone_among_busy | exit_in_signal) ;; *) grep -q 'said before the end' <<<"$out" || status="$status, nothing printed" ;; esac
    if [ "$status" = "$2" ] && [ $took -le "$3" ]; then
        echo "ok $1 ${4:-}: status $status, $took s"
    else
        echo "FAIL $1 ${4:-}: status $status, $took s; expected $2 within $3 s"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

for nodes in '' HEARTH_NODE_RANKS=1; do
    check together 5 10 $nodes
    check together_0 0 10 $nodes
    check alone 9 10 $nodes
    check alone_in_barrier 9 10 $nodes
    check quit_among_busy 9 10 $nodes
    check quit_by_sigterm 9 10 $nodes
    check sigterm 143 10 $nodes
    check in_thread 6 10 $nodes
    check beside_a_thread_that_polls 7 10 $nodes
    check beside_a_thread_that_puts 7 10 $nodes
    check beside_a_thread_that_sends 7 10 $nodes
    check in_handler 8 10 $nodes
    check return 0 10 $nodes
    check return_late 0 12 $nodes
    check return_1 1 10 $nodes
    check return_1_alone 1 10 $nodes
    check mpi_finalize 0 10 $nodes
    check mpi_return 0 10 $nodes
    check child 0 10 $nodes
done
for local in signal userfault; do
    paged="HEARTH_NVM=on HEARTH_NODE_RANKS=1 HEARTH_LOCAL=$local"
    check beside_a_thread_that_loads 7 10 "$paged"
    check return_beside_a_thread_that_loads 0 10 "$paged"
    check beside_a_thread_that_puts 7 10 "$paged"
done
check exit_in_signal 7 14 HEARTH_NVM=on
check exit_in_fault 7 14 'HEARTH_NVM=on HEARTH_NVM_NAME=exit' # a put of the interrupted call holds a page that is to be saved
check exit_0 0 10
check before_attach 4 10
check return_before_attach 0 10
check alone_among_busy 9 20
check together 5 15 'HEARTH_NODE_RANKS=1 HEARTH_NET=mpi'
check return 0 15 'HEARTH_NODE_RANKS=1 HEARTH_NET=mpi'
exit $failed
