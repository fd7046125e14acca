#!/usr/bin/env bash
# Tests the report: as JSON, per rank; and the error if it cannot be written.
#   test_report.sh MPI TREE       quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

run() { # value of HEARTH_REPORT
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never \
        --env HEARTH_REPORT="$1" "$tree/test/mpi_report" 2>&1
}

. "$here/tools/check_files.sh"

run "$dir/run.json" >/dev/null
check 'JSON that a parser takes, with a record per window and rank' /usr/bin/python3 - "$dir/run.json" <<'P'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["format"] == 2 and run["ranks"] == 2, run
records = run["windows"]
assert records and {r["rank"] for r in records} == {0, 1}
kinds = ("full_hits", "partial_hits", "pending_hits", "direct", "conflicting", "capacity", "failing", "bypassed")
for r in records:
    assert r["gets"] == sum(r[k] for k in kinds), r
assert any(r["hit_ratio"] > 0 for r in records)
P
check 'with permissions by the umask' test "$(stat -c %a "$dir/run.json")" = "$(printf %o $((0666 & ~$(umask))))"

# ---- why gets bypassed the cache ----

cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -O1 "$here/fault/report/why.c" -o "$dir/why" || exit 1
why() { # reason that many gets of the window `stream` must have, settings...: with and without the fast bypass path
    local reason=$1 record env=()
    shift
    for setting in "$@"; do env+=(--env "$setting"); done
    for record in on off; do
        "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" "${env[@]}" --env HEARTH_RECORD=$record \
            --env HEARTH_REPORT="$dir/why.json" "$dir/why" || return 1
        /usr/bin/python3 - "$dir/why.json" "$reason" <<'P' || return 1
import json, sys
expected = {"off": {"off": 70}, "own": {"own": 110}, "call": {"call": 3}, "request": {"request": 5}, "several": {"off": 20, "own": 10}}
windows = json.load(open(sys.argv[1]))["windows"]
assert len(windows) == 12, len(windows)
for w in windows:
    why = w["bypassed_why"]
    assert sum(why.values()) == w["bypassed"], w
    assert why.get("suspended", 0) == w["suspended_gets"], w
    if w["name"] in expected:
        assert why == expected[w["name"]], w
    else:
        assert why[sys.argv[2]] > w["gets"] / 8, w
P
    done
}
tiny=(HEARTH_CACHE_SIZE=4k HEARTH_ADAPT=off)
check 'each bypassed get has its reason, such as suspension' why suspended HEARTH_SUSPEND=64 HEARTH_SAMPLED_ADMISSION=0 "${tiny[@]}"
check 'each bypassed get has its reason, such as sampled admission' why sampled HEARTH_SUSPEND=0 HEARTH_SAMPLED_ADMISSION=16 "${tiny[@]}"
"$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_REPORT=1 "$dir/why" >"$dir/log" 2>&1
check 'a report that is no file is refused in one line' grep -q 'HEARTH_REPORT=1 names no file: write HEARTH_REPORT=run.json, which hearth report prints' "$dir/log"

run "$dir/%r.json" >/dev/null
check 'a file per rank' test -s "$dir/0.json" -a -s "$dir/1.json"

run "$dir/no/such/place.json" >"$dir/log"
check 'a place that is not there is named, and the program ends well' \
    grep -q "HEARTH_REPORT: cannot write $dir/no/such/place.json: No such file or directory" "$dir/log"

ln -s "$dir/elsewhere" "$dir/link.json"
run "$dir/link.json" >/dev/null
check 'links are not followed' test ! -e "$dir/elsewhere"
exit $failed
