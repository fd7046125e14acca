#!/usr/bin/env bash
# Tests invalid settings: one line names the variable, the value and the range, the default is used, and the program
# continues.   test_settings.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Runs the smoke test with a setting; expects it to pass, and a line that matches.
expect() { # K=V, regular expression
    local out
    out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env "$1" "$tree/test/mpi_smoke" 2>&1)
    local status=$?
    if [ $status != 0 ] || ! grep -qE "$2" <<<"$out"; then
        echo "FAIL $1: exit status $status, expected a line like: $2"
        sed 's/^/    | /' <<<"$out"
        failed=1
    else
        echo "ok $1: $(grep -m 1 -E "$2" <<<"$out")"
    fi
}

expect HEARTH_MODE=sometimes 'HEARTH_MODE=sometimes is not one of transparent\|always\|user\|off\|acquire; using the default'
expect HEARTH_CACHE_SIZE=1 'HEARTH_CACHE_SIZE=1 is not a whole number from 64 to 1e\+15'
expect HEARTH_CACHE_SIZE=12q 'HEARTH_CACHE_SIZE=12q is not a whole number'
expect HEARTH_SAMPLE=-3 'HEARTH_SAMPLE=-3 is not a whole number from 1 to 4096'
expect HEARTH_STABLE_THRESHOLD=nan 'HEARTH_STABLE_THRESHOLD=nan is not a number from 0 to 1'
expect HEARTH_INDEX_SIZE=99999999999999999999 'HEARTH_INDEX_SIZE=9+ is not a whole number from 4 to 1e\+09'
expect HEARTH_CASHE_SIZE=1m 'HEARTH_CASHE_SIZE is not a setting of Hearth; did you mean HEARTH_CACHE_SIZE\?'
expect HEARTH_DOZE=9 'HEARTH_DOZE is now HEARTH_SAMPLED_ADMISSION; the old name still works'
exit $failed
