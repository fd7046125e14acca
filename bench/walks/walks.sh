#!/usr/bin/env bash
# How far single calls walk through Hearth: instructions, functions, files, and hand-overs from file to file.
#
#   walks.sh [--quick]      after `make bench-programs`; in a minute
#
# A get that misses and one that hits, with their flushes; a message that is received and one that is sent inside a node; a get that Hearth
# serves from another node. Instructions of MPI, UCX and the kernel are not counted. Counts do not depend on the load of the machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start walks walks_call "openmpi mpich" "$@"

walk() { # MPI CALLS [K=V]...
    local mpi=$1 calls=$2 variable options=()
    shift 2
    for variable in HEARTH_PROGRESS_US=1000000 MODES_STEP_TRACE="$out/trace.tmp" "$@"; do
        options+=(--env "$variable")
    done
    if "$here/../test/launch.sh" "$mpi" 2 --preload "$build/$mpi/lib/libhearth-mpi.so" "${options[@]}" \
        "$build/$mpi/bench/modes_step" libhearth- "$out/steps.tmp" "$build/$mpi/bench/walks_call" "$calls" --times "$(pick 15 5)" >"$out/names.tmp"; then
        "$PYTHON" -B "$here/walks/walks.py" "$out/names.tmp" "$out/trace.tmp" | sed "s/^/$mpi,/" | tee -a "$out/walks.csv"
    else
        fail "$mpi, $calls (is tracing allowed here?)"
    fi
    rm -f "$out"/*.tmp
}

table walks mpi,call,instructions,functions,files,handovers
for mpi in "${mpis[@]}"; do
    walk "$mpi" cache HEARTH_BYPASS=never HEARTH_REPORT=
    walk "$mpi" messages HEARTH_MATCH=on
    walk "$mpi" served HEARTH_WINDOWS=serve HEARTH_NODE_RANKS=1
done
