#!/usr/bin/env bash
# Tests calls that only this MPI has, MPIX_X: they acquire like any other unknown call, and the library exports no
# extension that its MPI does not have.
#   test_extensions.sh MPI TREE         timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
library=$tree/lib/libhearth-mpi.so

runs=300
[ "${HEARTH_TEST_TIER:-}" != quick ] || runs=100

names() { # library: its extensions
    nm -D --defined-only "$1" | grep -oE '\bMPIX_[A-Za-z0-9_]+' | sort -u
}

host=$(ldd "$library" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3; exit }')
unknown=$(comm -23 <(names "$library") <(names "$host"))
if [ -z "$(names "$library")" ] || [ -n "$unknown" ]; then
    echo "FAIL extensions shown that $host does not have: ${unknown:-none is shown at all}" | paste -sd ' ' -
    failed=1
fi

agree() { # name, library, options of launch.sh, --, options of the program
    local what=$1 preloaded=$2 options=() output
    shift 2
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    if output=$("$here/launch.sh" "$mpi" 2 --timeout 50 "${options[@]}" --env HEARTH_BYPASS=never --preload "$preloaded" \
        --preload "$tree/test/agree.so" "$tree/test/litmus_cache" --runs $runs --only comm_agree "${@:2}" 2>&1) &&
        ! grep -q '^skip' <<<"$output"; then
        echo "ok $what"
    else
        echo "FAIL $what"
        sed 's/^/    | /' <<<"$output"
        failed=1
    fi
}

if grep -qx MPIX_Comm_agree <(names "$library"); then
    agree 'MPIX_Comm_agree acquires' "$library" --env HEARTH_MODE=acquire --
    agree 'without acquiring it would be seen' "$tree/test/libhearth-ignoring.so" --env HEARTH_MODE=acquire \
        --env HEARTH_TEST_IGNORED=generic -- --stale
else
    echo "this MPI has no MPIX_Comm_agree"
fi
exit $failed
