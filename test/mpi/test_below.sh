#!/usr/bin/env bash
# Runs below_cases.c over a mock MPI with behaviour that the standard allows and the real MPIs do not show: see
# below.c.
#   test_below.sh MPI TREE              timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

run() { # case, variables...
    local env=()
    for variable in "${@:2}"; do env+=(--env "$variable"); done
    if "$here/launch.sh" "$mpi" 2 --timeout 50 "${env[@]}" --env HEARTH_TEST_CONFIG=on --preload "$tree/lib/libhearth-mpi.so" \
        --preload "$tree/test/below.so" "$tree/test/below_cases" "$1" >"$dir/out" 2>&1; then
        echo "ok $1"
    else
        echo "FAIL $1"
        sed 's/^/    | /' "$dir/out"
        failed=1
    fi
}

run a_flush_of_another_thread HEARTH_BYPASS=never HEARTH_RECHECK=0
run an_error_of_read_ahead HEARTH_BYPASS=never HEARTH_READ_AHEAD=4
run measured_before_read_ahead HEARTH_BYPASS=auto HEARTH_SUSPEND=0 HEARTH_READ_AHEAD=4
exit $failed
