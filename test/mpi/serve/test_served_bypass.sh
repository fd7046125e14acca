#!/usr/bin/env bash
# Gets on served windows whose memory is mapped in the caller bypass the cache from the first one on, although the mode caches.
#   test_served_bypass.sh MPI TREE
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mpi=$1 tree=$2 dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_WINDOWS=serve --env HEARTH_MODE=always \
    --env HEARTH_TEST_CONFIG=serve --env HEARTH_REPORT="$dir/report.json" "$tree/test/mpi_served_ops" >"$dir/out" 2>&1 ||
    { echo 'FAIL the program' && sed 's/^/    | /' "$dir/out" && exit 1; }
python3 - "$dir/report.json" <<'END'
import json, sys
windows = json.load(open(sys.argv[1]))["windows"]
cheap = [w["bypassed_why"].get("cheap", 0) for w in windows]
wrong = [(w["window"], w["bypassed_why"]) for w in windows
         if w["full_hits"] or set(w["bypassed_why"]) - {"cheap", "own"} or w["bypassed"] != w["gets"]]
if wrong or not sum(cheap):
    sys.exit(f"FAIL gets were cached, or bypassed the cache for other reasons: {wrong}")
print("ok gets of mapped memory bypass the cache")
END
