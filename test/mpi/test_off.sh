#!/usr/bin/env bash
# HEARTH=off: a preloaded Hearth makes no thread and no memory and prints no line, whatever else is set, and hearth run starts the
# program without it.
#   test_off.sh MPI TREE       timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
library=$tree/lib/libhearth-mpi.so
others=(HEARTH_MATCH=on HEARTH_WINDOWS=serve HEARTH_REPORT=1 HEARTH_LOG=debug HEARTH_CHECK=on HEARTH_NONSENSE=1 HEARTH_MODE=wrong)
"$("$here/../packaging/mpis.sh" "$mpi")" -O1 "$here/mpi/off.c" -o "$dir/off" || exit 1

launch() { # [OPTION]...: of launch.sh
    "$here/launch.sh" "$mpi" 2 --timeout 50 "$@" "$dir/off" 2>&1 | sort
}

ok() { # NAME, and the result of the test before it
    [ $? = 0 ] && echo "ok $1" || { echo "FAIL $1" && sed 's/^/    | /' <<<"$found" && failed=1; }
}

settings=()
for setting in "${others[@]}"; do settings+=(--env "$setting"); done
bare=$(launch)
found=$bare
[ "$(grep -c '^rank [01]: .* result 7$' <<<"$found")" = 2 ]
ok "the program without Hearth"
found=$(launch --preload "$library" "${settings[@]}")
grep -q '^hearth' <<<"$found" && [ "$(grep '^rank' <<<"$found")" != "$bare" ]
ok "these settings make threads or memory, and lines"
found=$(launch --preload "$library" "${settings[@]}" --env HEARTH=off)
[ "$found" = "$bare" ]
ok "HEARTH=off leaves nothing of it"
found=$(launch --preload "$library" --env HEARTH=of)
grep -q 'HEARTH=of is not one of off|on; using the default, on' <<<"$found" && grep -q 'result 7$' <<<"$found"
ok "a wrong value is reported"

run() { # [OPTION]... COMMAND...: of hearth run
    env "${others[@]}" HEARTH=off "$tree/bin/hearth" run "$@" 2>&1
}
found=$(run --dry-run mpirun -n 2 "$dir/off")
[ "$found" = "hearth: HEARTH=off: the program runs without Hearth
mpirun -n 2 $dir/off" ]
ok "hearth run --dry-run says so"
found=$(run sh -c 'echo "preloaded: ${LD_PRELOAD:-nothing}"')
grep -qx 'preloaded: nothing' <<<"$found"
ok "hearth run does not preload"
found=$(HEARTH=off "$tree/bin/hearth" info -c 2>&1)
grep -q '^# HEARTH=off: programs that are started from here run without Hearth.$' <<<"$found"
ok "hearth info -c says so"
exit $failed
