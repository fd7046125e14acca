#!/usr/bin/env bash
# Tests HEARTH_CHECK=1, which shows whether a mode is safe for a program. mpi_sync rewrites its windows between epochs. In
# mode always the cache would serve stale data: this is detected and reported, and the program gets the fresh data and
# passes. In mode acquire no hit is stale.
#   test_check.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

check() { # mode, regular expression that no line may match, regular expressions, each of some line
    local out status missing=''
    out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never \
        --env HEARTH_MODE="$1" --env HEARTH_CHECK=1 --env HEARTH_TEST_CONFIG=bare "$tree/test/mpi_sync" 2>&1)
    status=$?
    for like in "${@:3}"; do grep -m 1 -E "$like" <<<"$out" || missing=$like; done
    if [ $status = 0 ] && [ -z "$missing" ] && ! grep -qE "$2" <<<"$out"; then
        echo "ok $1"
    else
        echo "FAIL $1: exit status $status, expected a line like: ${missing:-these}"
        sed 's/^/    | /' <<<"$out" | tail -n 20
        failed=1
    fi
}

check always 'none of|nothing to find' \
    'stale hit: get of 700 bytes from rank [01], byte 136 of window .* in the cache and 0x.. at the target; cached .* called since: .*MPI_Barrier' \
    '[1-9][0-9]* of [0-9]+ hits were stale: this mode is not safe'
check acquire 'stale hit' 'none of [1-9][0-9]* hits was stale'
check transparent 'stale hit' 'none of [0-9]+ hits was stale'
exit $failed
