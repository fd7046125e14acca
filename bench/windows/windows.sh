#!/usr/bin/env bash
# One-sided operations inside a node, executed by the MPI library and by Hearth (HEARTH_WINDOWS=serve).
#
#   windows.sh [--quick]      after `make bench-programs`; in about 5 minutes, with --quick in 1
#
# Two ranks on this machine, with each MPI that is built under build/ (or under BUILD). One program makes two windows of
# each kind of memory, and alternates between the one that the MPI library executes and the one that Hearth executes:
#   allocate    MPI_Win_allocate
#   alloc_mem   MPI_Alloc_mem, and MPI_Win_create
#   malloc      malloc, and MPI_Win_create
# Writes runs.csv and results.md to build/results/windows: time per operation, the ratio of the two, and the limit. A
# job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start windows windows_ops "openmpi mpich" "$@"
allow 300 60

job() { # MPI ROUND
    ! over "windows, $1, round $2" || return 0
    "$here/../test/launch.sh" "$1" 2 --preload "$build/$1/lib/libhearth-mpi.so" --timeout 90 \
        "$build/$1/bench/windows_ops" --milliseconds "$(pick 300 100)" 2>>"$out/errors.log" >"$out/job.tmp" ||
        fail "windows, exit status $?, $1, round $2"
    grep -E '^[a-z0-9_]+,[a-z_]+,[0-9]+,' "$out/job.tmp" | sed "s|^|$1,$2,|" >>"$out/runs.csv" || true
    rm -f "$out/job.tmp"
}

table runs mpi,round,operation,memory,rounds,host,served,limit,ratio,low,high
rounds=$(pick 7 2)
for round in $(seq "$rounds"); do
    [ "$round" = 1 ] || ! late 80 || break
    for mpi in "${mpis[@]}"; do
        say "$mpi, round $round of at most $rounds"
        job "$mpi" "$round"
    done
done
{
    echo "# Windows inside a node"
    echo
    echo "- $(cores)"
    echo "- $(versions)"
    echo "- load of the last minute at the end: $(busy)"
    echo
    bench_report windows "$out"
} >"$out/results.md"
cat "$out/results.md"
finish
