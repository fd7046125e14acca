#!/usr/bin/env bash
# Tests a job without memory for the cache: caching is disabled, one line says so, and the results do not change. And one without memory
# to note a part of a dynamic window.
# test_memory.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

run() { # K=V...: runs the smoke test with these settings
    local env=()
    for e in "$@"; do env+=(--env "$e"); done
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never \
        --env HEARTH_TEST_CONFIG=tiny "${env[@]}" "$tree/test/mpi_smoke" 2>&1
}

check() { # name, exit status, output, regular expression of the line, or '' for none
    if [ "$2" != 0 ] || { [ -n "$4" ] && ! grep -qE "$4" <<<"$3"; }; then
        echo "FAIL $1: exit status $2, expected: ${4:-success}"
        sed 's/^/    | /' <<<"$3"
        failed=1
    else
        echo "ok $1"
    fi
}

out=$(run HEARTH_CACHE_MAX=0)
check 'a budget of nothing' $? "$out" 'no memory for its cache \(HEARTH_CACHE_MAX is used up.*uncached'
out=$(run HEARTH_CACHE_MAX=200k)
check 'a budget smaller than the cache asked for' $? "$out" ''
out=$(run HEARTH_CACHE_SIZE=900000g HEARTH_CACHE_MAX=900000g)
check 'more than the address space' $? "$out" 'no memory for its cache \(the system has none left\)'
out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --preload "$tree/test/fail.so" \
    --env HEARTH_BYPASS=never "$tree/test/fault_detach" 2>&1)
check 'a part of a dynamic window that is not noted' $? "$out" ''
exit $failed
