#!/usr/bin/env bash
# Cost and gain of each mode of the cache: off, transparent, acquire and always, compared with the program without the library.
#
#   modes.sh [--quick]      after `make bench-programs`; in some minutes, at most 10; with --quick in fewer
#
# The Local Clustering Coefficient (apps/lcc) and loops of a get with its flush, with and without reuse, on two ranks, with each MPI
# that is built under build/ (or under BUILD). Modes take turns, so that a slow minute affects all alike. Writes tables and results.md
# to build/results/modes. A job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start modes modes_loop "openmpi mpich" "$@"
allow 540 300

# On a busy machine everything takes many times as long: repetitions are omitted after a while, and finally everything that remains.
out_of_time() { # PERCENT of the time, WHAT
    [ $((SECONDS * 100)) -gt $((allowed * $1)) ] && fail "no time left for $2"
}

# Runs a command on two ranks: launch MPI NET LIBRARY [K=V]... -- COMMAND...   NET: tcp or memory; LIBRARY: with or without
launch() {
    local mpi=$1 options=()
    [ "$2" != tcp ] || options+=(--tcp)
    [ "$3" != with ] || options+=(--preload "$build/$mpi/lib/libhearth-mpi.so")
    shift 3
    while [ "$1" != -- ]; do
        options+=(--env "$1")
        shift
    done
    shift
    "$here/../test/launch.sh" "$mpi" 2 "${options[@]}" --timeout 40 "$@" 2>>"$out/errors.log"
}

# ---- the Local Clustering Coefficient ----

value() { # NAME: from the results of the last run
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$out/lcc.json" | head -n 1
}

run_lcc() { # MPI LIBRARY [K=V]... -- OPTION...
    local mpi=$1 library=$2
    shift 2
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    rm -f "$out/lcc.json"
    launch "$mpi" tcp "$library" "${options[@]}" -- "$build/$mpi/bin/lcc" --quiet --json "$out/lcc.json" "$@" || true
    grep -qs '^}' "$out/lcc.json" # an MPICH that hangs in MPI_Finalize has delivered its results
}

# A get takes from 10 us to some ms, if other processes use the cores too. Sets vertices to a number that takes about 3 seconds without
# a cache.
choose_vertices() { # MPI
    vertices=(--vertices 50)
    run_lcc "$1" without -- --scale 12 --vertices 40 || return 0
    awk -v s="$(value seconds)" -v g="$(value window_gets)" 'BEGIN { k = int(3e6 / (13 * (s * 2e6 / (g + 1) + 1))); print k < 10 ? 10 : k }' >"$out/vertices.tmp"
    vertices=(--vertices "$(cat "$out/vertices.tmp")")
    rm -f "$out/vertices.tmp"
    [ "${vertices[1]}" -lt 8192 ] || vertices=()
    say "$1: ${vertices[1]:-all 8192} vertices per rank"
}

lcc() { # MPI NUMBER NAME LIBRARY MODE [K=V]...
    local mpi=$1 prefix="$1,$2,$3" library=$4 mode=$5
    shift 5
    if run_lcc "$mpi" "$library" "$@" -- --scale 14 "${vertices[@]}" --mode "$mode"; then
        echo "$prefix,$(value seconds),$(value hit_ratio),$(value checksum),$(value counted)" >>"$out/lcc.csv"
    else
        fail "lcc, $prefix"
    fi
}

lcc_round() { # MPI ROUND
    local i
    ! out_of_time 90 "lcc, $1, round $2" || return 0
    lcc "$1" "$2" without without off
    lcc "$1" "$2" off with off
    lcc "$1" "$2" transparent with transparent
    for i in 1 2 3; do # these are ten times as fast
        ! out_of_time 95 "lcc, $1, round $2.$i" || return 0
        lcc "$1" "$2.$i" always with always
        lcc "$1" "$2.$i" acquire with acquire
        lcc "$1" "$2.$i" acquire-no-recheck with acquire HEARTH_RECHECK=0
    done
}

lccs() {
    local rounds round mpi vertices
    rounds=$(pick 7 3)
    table lcc mpi,number,mode,seconds,hit_ratio,checksum,counted
    for mpi in "${mpis[@]}"; do
        choose_vertices "$mpi"
        for round in $(seq "$rounds"); do
            [ "$round" = 1 ] || ! late 75 || break
            say "Local Clustering Coefficient: $mpi, round $round of $rounds"
            lcc_round "$mpi" "$round"
        done
    done
    rm -f "$out/lcc.json"
}

# ---- loops ----

loop() { # MPI NET PREFIX LIBRARY OPTION...
    local mpi=$1 net=$2 prefix="$1,$3,$4" library=$4
    shift 4
    ! out_of_time 100 "modes_loop, $prefix" || return 0
    launch "$mpi" "$net" "$library" -- "$build/$mpi/bench/modes_loop" --turns "$(pick 500 150)" "$@" >"$out/job.tmp" ||
        fail "modes_loop, $prefix"
    sed "s|^|$prefix,|" "$out/job.tmp" >>"$out/loop.csv"
    rm -f "$out/job.tmp"
}

loops() {
    local rounds round mpi
    rounds=$(pick 3 1)
    table loop mpi,window,library,pattern,way,bytes,gets,ns,tenth_ns,ratio,low,high,beyond_ns,hits
    for round in $(seq "$rounds"); do
        [ "$round" = 1 ] || ! late 35 || break
        for mpi in "${mpis[@]}"; do
            say "loops of get and flush: $mpi, round $round of $rounds"
            loop "$mpi" tcp tcp with
            loop "$mpi" tcp tcp without
            loop "$mpi" memory create with --turn 64
            loop "$mpi" memory allocate with --turn 64
        done
    done
}

# ---- instructions ----

# Runs the same loops alone, for the times, and single-stepped, for the counts. HEARTH_PROGRESS_US is large in the latter: otherwise
# every hit would make a progress call, because of the time that single-stepping takes.
counts() {
    local mpi kind gets=100 options
    table count mpi,window,pattern,way,timed_gets,ns,gets,instructions,program_instructions
    for mpi in "${mpis[@]}"; do
        [ -x "$build/$mpi/bench/modes_step" ] || continue
        for kind in create allocate; do
            say "instructions per get and flush: $mpi, MPI_Win_$kind"
            options=()
            [ $kind = create ] || options=(--allocate 1)
            launch "$mpi" memory with -- "$build/$mpi/bench/modes_count" --gets 20000 "${options[@]}" >"$out/times.tmp" ||
                fail "modes_count, $mpi, $kind"
            launch "$mpi" memory with HEARTH_PROGRESS_US=1000000 -- "$build/$mpi/bench/modes_step" libhearth- \
                "$out/steps.tmp" "$build/$mpi/bench/modes_count" --gets $gets "${options[@]}" >/dev/null ||
                fail "modes_step, $mpi, $kind (is tracing allowed here?)"
            [ "$(wc -l <"$out/times.tmp")" != "$(wc -l <"$out/steps.tmp")" ] ||
                paste -d, "$out/times.tmp" <(sed "s/^/$gets,/" "$out/steps.tmp") | sed "s|^|$mpi,$kind,|" >>"$out/count.csv"
            rm -f "$out/times.tmp" "$out/steps.tmp"
        done
    done
}

say "two ranks, ${mpis[*]}, results in $out"
load=$(cut -d ' ' -f 1 /proc/loadavg)
loops
counts
lccs
bench_report modes "$out" quick=$quick load="$load" mpis="${mpis[*]}" >"$out/results.md"
[ -s "$out/errors.log" ] || rm -f "$out/errors.log"
sed '/^## /,$d' "$out/results.md"
touch "$out/failed.log"
failed=$(wc -l <"$out/failed.log")
say "$(grep -c '| reached |' "$out/results.md" || true) targets reached, $(grep -c '| \*\*lost\*\* |' "$out/results.md" || true) lost, $(grep -c '| not measured |' "$out/results.md" || true) not measured, $failed jobs failed: $out/results.md"
[ "$failed" = 0 ]
