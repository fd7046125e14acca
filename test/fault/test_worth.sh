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

suspensions() { # file: "times, gets, whether the reason is there", summed over the windows of rank 0
    /usr/bin/python3 - "$1" <<'P'
import json, sys
windows = [w for w in json.load(open(sys.argv[1]))["windows"] if w["rank"] == 0]
why = all(w["cache_took_seconds"] > 0 and w["suspended_first_seconds"] >= 0 for w in windows if w["suspended"])
print(sum(w["suspended"] for w in windows) > 0, sum(w["suspended_gets"] for w in windows) > 0, why)
P
}

hits() { # file: full hits of all ranks
    /usr/bin/python3 -c 'import json, sys; print(sum(w["full_hits"] for w in json.load(open(sys.argv[1]))["windows"]))' "$1"
}

shown() { # file: its text
    "$tree/bin/hearth" report "$1" | tr -s ' \n' ' '
}

run --tcp always HEARTH_SUSPEND=64 HEARTH_REPORT="$dir/rest.json" >"$dir/log"
check 'a stream without reuse is suspended, with what the cache took and saved' test "$(suspensions "$dir/rest.json")" = 'True True True'
check 'hearth report says so' \
    grep -qE 'the cache cost more than it saved and was suspended [0-9]+ times, for [0-9.]+ % of the gets; before the last time it had taken .* and saved 0 ' <(shown "$dir/rest.json")
check 'and comes back for what is reused' test "$(hits "$dir/rest.json")" -gt 200

run --tcp between_fences HEARTH_SUSPEND=64 HEARTH_REPORT="$dir/fenced.json" >"$dir/log"
check 'and so is one between fences' test "$(suspensions "$dir/fenced.json")" = 'True True True'

run --tcp always HEARTH_SUSPEND=0 HEARTH_REPORT="$dir/never.json" >"$dir/log"
check 'HEARTH_SUSPEND=0: never' test "$(suspensions "$dir/never.json")" = 'False False True'

run '' as_set HEARTH_BYPASS=never HEARTH_REPORT="$dir/advice.json" >"$dir/log"
check 'transparent mode: what acquire and always mode would have served' /usr/bin/python3 - "$dir/advice.json" <<'P'
import json, sys
seen = [w["foresight"] for w in json.load(open(sys.argv[1]))["windows"] if "foresight" in w]
gets = sum(f["gets"] for f in seen)
share = sum(f["gets"] * f["acquire"] for f in seen) / gets
assert 0.81 <= share <= 0.84, (share, gets)  # some 1484 of 1800
P
check 'and the advice' grep -q 'HEARTH_MODE=acquire' <(shown "$dir/advice.json")
run '' always HEARTH_BYPASS=never HEARTH_REPORT="$dir/always.json" >"$dir/log"
shown "$dir/always.json" >"$dir/shown"
check 'none where always mode is on' sh -c "! grep -q HEARTH_MODE=acquire '$dir/shown'"
[ $failed = 0 ] || cat "$dir"/*
exit $failed
