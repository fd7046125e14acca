#!/usr/bin/env bash
# Tests the heater under MPI: a setting starts it, the report shows its work, and the program can pause it.
#   test_heater.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

run() { # HEARTH_HEATER, HEARTH_REPORT
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_MODE=always \
        --env HEARTH_HEATER="$1" --env HEARTH_HEATER_INDEX=on --env HEARTH_HEATER_US=1 --env HEARTH_REPORT="$2" \
        "$tree/test/mpi_hits" 2>&1
}

. "$here/tools/check_files.sh"

run off "$dir/off.json" >/dev/null
check 'a program runs well beside it' run on "$dir/on.json"
check 'the report has rounds, lines and core of each rank, all zero without a heater' /usr/bin/python3 - "$dir" <<'P'
import json, sys
on, off = (json.load(open(sys.argv[1] + "/" + name + ".json"))["heaters"] for name in ("on", "off"))
assert [h["rank"] for h in on] == [h["rank"] for h in off] == [0, 1], (on, off)
assert any(h["rounds"] > 0 and h["lines"] > 0 and h["core"] >= 0 for h in on), on
assert all(h["rounds"] == 0 and h["lines"] == 0 and h["core"] == -1 for h in off), off
P
for name in hearth_heater_pause hearth_heater_resume; do
    check "$name can be called" sh -c "nm -D --defined-only '$tree/lib/libhearth-mpi.so' | grep -q ' T $name\$'"
done
exit $failed
