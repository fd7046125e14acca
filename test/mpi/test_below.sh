#!/usr/bin/env bash
# Runs below_cases.c over a mock MPI with behaviour that the standard allows and the real MPIs do not show: see
# below.c.
#   test_below.sh MPI TREE              timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

expect() { # what, command
    if "${@:2}" >"$dir/out" 2>&1; then
        echo "ok $1"
    else
        echo "FAIL $1"
        sed 's/^/    | /' "$dir/out"
        failed=1
    fi
}

run() { # case, variables...
    local env=()
    for variable in "${@:2}"; do env+=(--env "$variable"); done
    expect "$1" "$here/launch.sh" "$mpi" 2 --timeout 50 "${env[@]}" --env HEARTH_TEST_CONFIG=on --preload "$tree/lib/libhearth-mpi.so" \
        --preload "$tree/test/below.so" "$tree/test/below_cases" "$1"
}

# What Hearth makes of the behaviour does not depend on the MPI below the mock. In the quick tier, if both MPIs are there, the first part is run on
# one, the second on the other, whose later versions and device ch3 it imitates.
parts='cache of_mpich'
if [ "${HEARTH_TEST_TIER:-}.${tree##*/}" = "quick.$mpi" ] && [ "$("$here/../packaging/mpis.sh" | wc -l)" = 2 ]; then
    case $mpi in openmpi) parts=cache ;; *) parts=of_mpich ;; esac
fi

cache() {
    run a_flush_of_another_thread HEARTH_BYPASS=never HEARTH_RECHECK=0
    run an_atomic_during_a_flush HEARTH_BYPASS=never HEARTH_RECHECK=0
    run a_write_during_a_flush HEARTH_BYPASS=never HEARTH_READ_AHEAD=4
    run a_flush_after_refusal HEARTH_BYPASS=never
    run writes_through_an_unregistered_window HEARTH_BYPASS=never
    run an_error_of_a_joined_get HEARTH_BYPASS=never
    run a_get_that_is_too_late_to_join HEARTH_BYPASS=never
    run an_error_of_read_ahead HEARTH_BYPASS=never HEARTH_READ_AHEAD=4
    run measured_before_read_ahead HEARTH_BYPASS=auto HEARTH_SUSPEND=0 HEARTH_READ_AHEAD=4
    run a_flush_ends_the_suspension HEARTH_BYPASS=auto HEARTH_SUSPEND=8
    run a_flush_of_all_ends_the_suspension HEARTH_BYPASS=auto HEARTH_SUSPEND=8
    run no_cache_before_a_second_get HEARTH_BYPASS=auto
    run emptied_in_vain HEARTH_BYPASS=auto HEARTH_SUSPEND=1024
    run a_slow_resize_does_not_suspend HEARTH_BYPASS=auto HEARTH_SUSPEND=256 HEARTH_CACHE_SIZE=4k HEARTH_INDEX_SIZE=16 HEARTH_ADAPT_INTERVAL=32
}

of_mpich() {
    # An MPI that reports every process as alone, as MPICH 5 over UCX does.
    run processes_of_one_machine BELOW_ALONE=1 HEARTH_WINDOWS=serve HEARTH_MATCH=on HEARTH_REPORT="$dir/report.json"
    expect "their messages are in shared memory" grep -qE '"node": *[1-9]' "$dir/report.json"
    run processes_that_the_user_separates BELOW_ALONE=1 HEARTH_WINDOWS=serve MPIR_CVAR_NOLOCAL=1
    run the_first_window_of_another_thread HEARTH_WINDOWS=serve HEARTH_NODE_RANKS=1
    expect "ARMCI finds one node" "$here/launch.sh" "$mpi" 2 --timeout 50 --env BELOW_ALONE=1 --env HEARTH_TEST_CONFIG=real --env HEARTH_NODE_RANKS=2 \
        --env HEARTH_ARMCI_TOPOLOGY=real --preload "$tree/test/below.so" "$tree/test/armci_domains"

    # An MPI whose epochs begin later, as those of MPICH's device ch3.
    expect "operations wait for their targets" "$here/launch.sh" "$mpi" 2 --timeout 50 --env BELOW_DEFERS=1 --env HEARTH_TEST_CONFIG=serve \
        --env HEARTH_WINDOWS=serve --preload "$tree/lib/libhearth-mpi.so" --preload "$tree/test/below.so" "$tree/test/mpi_served_locks" \
        operations_follow_the_post operations_follow_the_fence posts_and_starts_with_all_assertions fences_with_all_assertions
}

for part in $parts; do $part; done
exit $failed
