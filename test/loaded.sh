#!/usr/bin/env bash
# Runs the quick tier several times in a row while stress-ng computes in four processes:   loaded.sh [RUNS]
#   RUNS   default 5
#
# A test that expects something to happen within a given time fails here. The trees must be built (make tests). The
# output of run N is in build/test-loaded/N.log; if a test failed, the logs of its tests are in build/test-loaded/N.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
runs=${1:-5}
case $runs in '' | *[!0-9]*)
    sed -n '2,3s/^# \{0,1\}//p' test/loaded.sh >&2
    exit 2
    ;;
esac
command -v stress-ng >/dev/null || { echo "stress-ng is not installed (Debian: stress-ng)" >&2 && exit 2; }

out=build/test-loaded failed=0
rm -rf "$out"
mkdir -p "$out"
stress-ng --cpu 4 --quiet --timeout 12h &
load=$! tests=
trap 'kill $load $tests 2>/dev/null; wait' EXIT
trap 'exit 130' INT TERM HUP
for ((run = 1; run <= runs; run++)); do
    start=$SECONDS
    RECORD='' test/run quick >"$out/$run.log" 2>&1 &
    tests=$!
    wait $tests || {
        failed=$((failed + 1))
        cp -r build/test-logs "$out/$run"
    }
    printf 'run %d of %d, %d:%02d min: %s\n' "$run" "$runs" $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)) "$(tail -1 "$out/$run.log")"
done
[ -z "${RECORD:-}" ] || [ "$runs" -lt 5 ] || test/status/record.py loaded --seconds $SECONDS --log "$out"/*.log --note "$runs runs in a row"
[ $failed = 0 ]
