#!/usr/bin/env bash
# Tests mode auto. A program that synchronises through MPI keeps its hits, a sample of which is verified. A program that learns of
# writes past MPI is found out: each of its windows is turned to transparent mode, stderr and the report say so and where. Under
# HEARTH_CHECK the stale hits of the same program in acquire mode are found too, those of MPI_Rget and partial ones included.
#   test_auto.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -D_GNU_SOURCE -O1 -g -I"$here/../include" "$here/fault/auto.c" -o "$dir/auto" -ldl || exit 1

out='' status=0
run() { # argument of the program, settings
    local settings=()
    for setting in "${@:2}"; do settings+=(--env "$setting"); done
    out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never "${settings[@]}" "$dir/auto" "$1" 2>&1)
    status=$?
}
check() { # name, regular expression, number of lines that match it, exit status
    local count
    count=$(grep -cE -- "$2" <<<"$out")
    if [ "$status" = "${4:-0}" ] && [ "$count" = "${3:-1}" ]; then
        echo "ok $1"
    else
        echo "FAIL $1: exit status $status, $count lines instead of ${3:-1} like: $2"
        sed 's/^/    | /' <<<"$out" | head -40
        failed=1
    fi
}

run clean HEARTH_MODE=auto
check 'a clean program' '^FAIL|stale' 0
read -r _ hits _ verified <<<"$(grep '^hits' <<<"$out")"
if [ "${hits:-0}" -ge 15000 ] && [ "${verified:-0}" -ge 100 ] && [ "$verified" -le 600 ]; then
    echo "ok most of its gets are hits ($hits), and a sample is verified ($verified)"
else
    echo "FAIL hits ${hits:-?} verified ${verified:-?}" && failed=1
fi
run stale HEARTH_MODE=auto HEARTH_REPORT="$dir/run.json"
check 'a program with stale hits reads the right data after the first' '^FAIL' 0
check 'each window is turned once' 'warning: window [0-9]+ .*: a hit in mode auto was stale: transparent mode from now on' 5
check 'where' 'made at .*/auto\+0x[0-9a-f]+: byte [0-3] is 0x00 in the cache and 0x01 at the target' 5
[ "$(grep -c '"what": "mode auto: a stale hit at .*auto+0x[0-9a-f]*; transparent from here on"' "$dir/run.json")" = 5 ] ||
    { echo "FAIL the report: $(grep -c 'mode auto: a stale hit' "$dir/run.json") events" && failed=1; }
[ "$("$tree/bin/hearth" report "$dir/run.json" | grep -c 'mode auto: a stale hit')" = 5 ] || { echo "FAIL hearth report does not say so" && failed=1; }
run stale HEARTH_MODE=acquire HEARTH_CHECK=on
check 'HEARTH_CHECK finds the stale hits of every kind of get' 'error: stale hit: get of [0-9]+ bytes from rank 1, byte 0 of window [1-5] ' 5
exit $failed
