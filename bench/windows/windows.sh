#!/usr/bin/env bash
# One-sided operations inside a node and between nodes, executed by the MPI library and by Hearth (HEARTH_WINDOWS=serve).
#
#   windows.sh [--quick]      after `make bench-programs`; in about 7 minutes, with --quick in 1
#
# Two ranks on this machine, with each MPI that is built under build/ (or under BUILD). One program makes two windows of
# each kind of memory, and alternates between the one that the MPI library executes and the one that Hearth executes:
#   allocate    MPI_Win_allocate
#   alloc_mem   MPI_Alloc_mem, and MPI_Win_create
#   malloc      malloc, and MPI_Win_create
#   nodes, polling   MPI_Win_allocate; each rank is a node, on a core of its own, with TCP over the loopback device between them. While
#               Hearth executes operations, the target sleeps or, as for the MPI library, waits in MPI_Bcast.
# Writes runs.csv and results.md to build/results/windows: time per operation, the ratio of the two, and the limit. A
# job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start windows windows_ops "openmpi mpich" "$@"
allow 420 75

job() { # MPI ROUND PLACE; PLACE: node or nodes
    ! over "windows, $1, round $2, $3" || return 0
    local launch=() nodes=0
    [ "$3" = node ] || launch=(--tcp --env HEARTH_NODE_RANKS=1) nodes=1
    "$here/../test/launch.sh" "$1" 2 "${launch[@]}" --preload "$build/$1/lib/libhearth-mpi.so" --timeout 90 \
        "$build/$1/bench/windows_ops" --nodes $nodes --milliseconds "$(pick 300 100)" 2>>"$out/errors.log" >"$out/job.tmp" ||
        fail "windows, exit status $?, $1, round $2, $3"
    grep -E '^[a-z0-9_]+,[a-z_]+,[0-9]+,' "$out/job.tmp" | sed "s|^|$1,$2,|" >>"$out/runs.csv" || true
    rm -f "$out/job.tmp"
}

table runs mpi,round,operation,memory,rounds,host,served,limit,ratio,low,high
rounds=$(pick 7 2)
for round in $(seq "$rounds"); do
    [ "$round" = 1 ] || ! late 80 || break
    for mpi in "${mpis[@]}"; do
        say "$mpi, round $round of at most $rounds"
        job "$mpi" "$round" node
        job "$mpi" "$round" nodes
    done
done
{
    echo "# Windows"
    echo
    echo "- $(cores)"
    echo "- $(versions)"
    echo "- load of the last minute at the end: $(busy)"
    echo
    bench_report windows "$out"
} >"$out/results.md"
cat "$out/results.md"
finish
