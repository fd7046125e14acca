#!/usr/bin/env bash
# The cost of Hearth for calls that it does not make faster: accumulates, puts with requests, probes, messages of
# several threads, creating and freeing communicators and windows, small transposes.
#
#   overhead.sh [--quick]      after `make bench-programs`; in about 5 minutes, with --quick in 1
#
# Two ranks on this machine, with each MPI that is built under build/ (or under BUILD). Four configurations take
# turns:
#   bare      the program alone
#   default   with the library, without settings
#   near      with HEARTH_MATCH=1
#   far       with HEARTH_MATCH=1 and all messages through MPI, as between nodes
# Writes runs.csv and results.md to build/results/overhead: time per operation, and its ratio to bare, by the medians
# and by the minima of all rounds. The minimum excludes most disturbances by other processes. A job that fails or
# takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bench_start overhead overhead "openmpi mpich" "$@"
allow 400 90
alone="accumulate rput iprobe probe dup create allocate puts gets locked"

configure() { # MPI CONFIGURATION: options of launch.sh in `launch`
    launch=()
    [ "$2" = bare ] || launch+=(--preload "$build/$1/lib/libhearth-mpi.so")
    case $2 in
    near) launch+=(--env HEARTH_MATCH=1) ;;
    far) launch+=(--env HEARTH_MATCH=1 --env HEARTH_MATCH_NODE=off) ;;
    esac
}

job() { # MPI CONFIGURATION ROUND CASE...
    local mpi=$1 config=$2 round=$3
    shift 3
    ! over "overhead, $mpi, $config" || return 0
    configure "$mpi" "$config"
    "$here/../test/launch.sh" "$mpi" 2 "${launch[@]}" --timeout 60 "$build/$mpi/bench/overhead" --milliseconds "$(pick 100 50)" "$@" \
        2>>"$out/errors.log" >"$out/job.tmp" || fail "overhead, exit status $?, $mpi, $config, $*"
    sed "s|^|$mpi,$config,$round,|" "$out/job.tmp" >>"$out/runs.csv"
    rm -f "$out/job.tmp"
}

table runs mpi,config,round,case,samples,ns,low,high,least
for round in $(seq "$(pick 9 3)"); do
    [ "$round" = 1 ] || ! late 90 || break
    for mpi in "${mpis[@]}"; do
        say "$mpi, round $round"
        for config in bare default near far; do
            # shellcheck disable=SC2086 # words
            job "$mpi" "$config" "$round" $alone
            job "$mpi" "$config" "$round" threads waiting
        done
    done
done
{
    echo "# What Hearth costs"
    echo
    echo "- $(cores)"
    echo "- $(versions)"
    echo "- load of the last minute at the end: $(busy)"
    echo
    bench_report overhead "$out"
} >"$out/results.md"
cat "$out/results.md"
finish
