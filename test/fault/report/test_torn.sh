#!/usr/bin/env bash
# Reads the report of a job again and again while its ranks write parts every millisecond, and after a rank was killed at a random moment:
# the values of a rank always fit together, and no rank that has written is missing.
#   test_torn.sh MPI TREE [KILLS [SEED]]      tier: full; timeout: 120, for 20 kills; HEARTH_TEST_KILLS sets the number; waits: yes
set -uo pipefail
mpi=$1 tree=$2 kills=${3:-${HEARTH_TEST_KILLS:-20}} seed=${4:-$RANDOM}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -O1 "$here/fault/report/early.c" -o "$dir/early" || exit 1
echo "seed $seed"
RANDOM=$seed reads=0

whole() { # sums of each rank; the ranks that have written are there
    local written
    written=$(ls "$dir/run.json.parts" 2>/dev/null | sed -nE 's/^([0-9]+)\.[0-9]+$/\1/p' | sort -n | paste -sd ' ')
    "$tree/bin/hearth" report --json "$dir/run.json" >"$dir/merged" 2>"$dir/errors" || { [ -z "$written" ] || { cat "$dir/errors" && return 1; }; return 0; }
    reads=$((reads + 1))
    /usr/bin/python3 - "$dir/merged" "$written" <<'P'
import json, sys
run = json.load(open(sys.argv[1]))
gets = {}
for w in run["windows"]:
    gets[w["rank"]] = gets.get(w["rank"], 0) + w["gets"]
there = [p["rank"] for p in run["processes"]]
assert there == sorted(set(there)) and set(map(int, sys.argv[2].split())) <= set(there), (there, sys.argv[2])
for p in run["processes"]:
    assert sum(p["series"]["gets"]) == gets.get(p["rank"], 0), (p["rank"], p["series"]["gets"], gets)
P
}

for ((i = 1; i <= kills; i++)); do
    rm -rf "$dir"/{go,handled,pid*,run.json*}
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_REPORT_EVERY=0.001 \
        --env HEARTH_REPORT="$dir/run.json" "$dir/early" wait "$dir" >"$dir/log" 2>&1 &
    job=$!
    for ((tries = 0; tries < 300; tries++)); do
        [ -e "$dir/run.json.parts" ] && break
        sleep 0.02
    done
    sleep "0.$(printf %03d $((RANDOM % 200)))"
    whole || { echo "FAIL report $i while the job runs" && kill "$job" && exit 1; }
    kill -KILL "$(cat "$dir/pid$((RANDOM % 2))")"
    wait "$job"
    whole || { echo "FAIL report $i after a rank was killed" && exit 1; }
    [ $((i % 100)) != 0 ] || echo "$i kills"
done
[ $reads -ge "$kills" ] || { echo "FAIL only $reads reports of $kills jobs" && exit 1; }
echo "ok $kills ranks killed, $reads reports read"
