#!/usr/bin/env bash
# Runs the program of bench/osu for moments: all groups end with a line for each call, under Hearth's default settings.
#   test_osu.sh MPI TREE       quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bench=$here/../bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

"$("$here/../packaging/mpis.sh" "$mpi")" -std=gnu11 -D_GNU_SOURCE -O1 -I "$bench" -I "$here/../src" -o "$dir/osu_cells" \
    "$bench"/osu/osu_{cells,messages,collectives,windows}.c "$bench/sample.c" -lm -pthread ||
    { echo "FAIL osu_cells.c does not compile" && exit 1; }

group() { # RANKS GROUP CASE...
    local ranks=$1 group=$2 case
    shift 2
    "$here/launch.sh" "$mpi" "$ranks" --preload "$tree/lib/libhearth-mpi.so" --timeout 50 "$dir/osu_cells" "$group" --milliseconds 1 --sizes 8,4096 \
        >"$dir/log" 2>&1 || { echo "FAIL $group: exit status $?" && sed 's/^/    | /' "$dir/log" && failed=1; }
    for case; do
        grep -qE "^$case,[0-9]+,[1-9][0-9]*,([0-9.]+,){3}[0-9.]+$" "$dir/log" || { echo "FAIL $group: no line of $case" && failed=1; }
    done
    [ $failed != 0 ] || echo "ok $group"
}

group 2 messages latency_queued latency persistent strided bandwidth both_ways
group 4 pairs pairs
group 2 threads threads
group 2 collectives barrier bcast allreduce alltoall allgather
for memory in allocate create dynamic; do
    group 2 $memory {get,put,accumulate,get_accumulate}{,_bw}.{flush,lock,fence,pscw}.$memory fetch_and_op.{flush,lock,fence,pscw}.$memory \
        {rget,rput,open_close}.$memory
done
exit $failed
