#!/usr/bin/env bash
# Tests admission: the cache is suspended while it costs more than it saves, and resumes; the report shows both, and
# the hits that other modes would have had.
#   test_worth.sh MPI TREE            alone: yes (over TCP, beside others, each get of MPICH takes a slice of the scheduler)
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

run() { # network or nothing, case, variables...
    local network=$1 case=$2 env=()
    shift 2
    for variable; do env+=(--env "$variable"); done
    "$here/launch.sh" "$mpi" 2 $network --preload "$tree/lib/libhearth-mpi.so" "${env[@]}" "$tree/test/mpi_past" "$case" 2>&1
}

. "$here/tools/check_files.sh"

run --tcp always HEARTH_SUSPEND=64 HEARTH_REPORT=1 >"$dir/rest"
check 'a stream without reuse is suspended, with the reason' \
    grep -qE 'rank 0: suspended [0-9]+ times for [0-9]+ gets in all, first .*: the cache took .* and saved 0.0 us' "$dir/rest"
check 'and comes back for what is reused' awk '/^ +all/ && $4 > 200 { found = 1 } END { exit !found }' "$dir/rest"

run --tcp between_fences HEARTH_SUSPEND=64 HEARTH_REPORT=1 >"$dir/fenced"
check 'and so is one between fences' grep -qE 'rank 0: suspended [0-9]+ times' "$dir/fenced"

run --tcp always HEARTH_SUSPEND=0 HEARTH_REPORT=1 >"$dir/never"
check 'HEARTH_SUSPEND=0: never' sh -c "! grep -q suspended '$dir/never'"

run '' as_set HEARTH_BYPASS=never HEARTH_REPORT=1 >"$dir/advice"
check 'transparent mode: what acquire and always mode would have served' \
    awk '/remote gets in transparent mode, acquire mode would have served about [0-9]+ %, always mode/ {
        for (i = 1; i <= NF; i++) if ($i == "about") share = $(i + 1)
    }
    END { exit !(share >= 81 && share <= 84) }' "$dir/advice" # some 1484 of 1800
check 'and the advice' grep -q 'try HEARTH_MODE=acquire, and HEARTH_CHECK=1 once' "$dir/advice"
run '' always HEARTH_BYPASS=never HEARTH_REPORT=1 >"$dir/always"
check 'none where always mode is on' sh -c "! grep -q 'would have served' '$dir/always'"
[ $failed = 0 ] || cat "$dir"/*
exit $failed
