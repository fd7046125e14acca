#!/usr/bin/env bash
# Tests the report of a program with more windows than there are records: the last record is the sum of the rest, and
# the numbers add up. Rank 0 gathers them in two steps.
#   test_report_many.sh MPI TREE        tier: full; timeout: 300
set -uo pipefail
mpi=$1 tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Each window's cache is suspended after its first gets; only the gets after that bypass it.
"$here/launch.sh" "$mpi" 2 --timeout 280 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_TEST_CONFIG=on --env HEARTH_SUSPEND=1 \
    --env HEARTH_REPORT="$dir/report.json" "$tree/test/below_cases" --seconds 250 many_windows || exit 1
/usr/bin/python3 - "$dir/report.json" <<'P'
import json, sys
windows = json.load(open(sys.argv[1]))["windows"]
assert [sum(r["rank"] == rank for r in windows) for rank in (0, 1)] == [1024, 1024], len(windows)
records = [r for r in windows if r["rank"] == 0]
others = [r for r in records if r["name"] == "(others)"]
assert len(others) == 1 and sum(r["gets"] for r in records) == 7 * 1040, (len(records), others)
for r in records:
    assert r["suspended_gets"] <= r["bypassed"], r
assert others[0]["suspended"] > 1, others
assert others[0]["suspended_gets"] == others[0]["bypassed"], others
P
