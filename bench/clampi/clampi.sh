#!/usr/bin/env bash
# The micro-benchmark of the CLaMPI paper (Sec. IV-A): Figs. 7 to 11, and Hearth's own figures.
#
#   clampi.sh [--quick]      after `make bench-programs`; in about 5 minutes, with --quick in under 2
#
# Two ranks over TCP on the loopback device, with each MPI that is built under build/ (or under BUILD). Writes one CSV and one plot per
# figure and results.md to build/results/clampi. A job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start clampi clampi_hit "openmpi mpich" "$@"
allow 260 85

# Runs a program on two ranks and prints its lines with a prefix of columns: job MPI PREFIX PROGRAM [K=V]... -- [ARG]...
# PRELOAD=no leaves the library out; NET=memory lets the ranks use shared memory instead of TCP.
job() {
    local mpi=$1 prefix=$2 program=$3 options=() net=(--tcp) preload=(--preload "$build/$1/lib/libhearth-mpi.so")
    shift 3
    while [ "$1" != -- ]; do
        case "$1" in
        PRELOAD=no) preload=() ;;
        NET=memory) net=() ;;
        *) options+=(--env "$1") ;;
        esac
        shift
    done
    shift
    ! over "$program, $mpi, $prefix" || return 0
    "$here/../test/launch.sh" "$mpi" 2 "${net[@]}" "${preload[@]}" "${options[@]}" --timeout 40 \
        "$build/$mpi/bench/$program" "$@" 2>>"$out/errors.log" >"$out/job.tmp" ||
        fail "$program, $mpi, ${options[*]:-no settings}; see $out/errors.log"
    sed "s|^|$mpi,$prefix|" "$out/job.tmp"
    rm -f "$out/job.tmp"
}

add() { # FILE: appends standard input
    cat >>"$out/$1.csv"
}

fixed=(HEARTH_ADAPT=off)
roomy=(HEARTH_INDEX_SIZE=4k HEARTH_CACHE_SIZE=16m)

access_costs() { # Figs. 7 and 8; three settings produce the five kinds of access
    local z
    z=$(pick 20000 5000)
    table parts part,bytes,least_ns,median_ns
    timeout -k 5 40 "$build/$first/bench/clampi_parts" | add parts || fail clampi_parts
    table access mpi,setting,kind,bytes,gets,latency_us,low_us,high_us,issue_us,flush_us,overlapped_gets,overlapped_us,compute_us,share,of_raw
    for mpi in "${mpis[@]}"; do
        say "Figs. 7, 8: $mpi, access costs and overlap, Z = $z"
        job "$mpi" roomy, clampi_access "${fixed[@]}" "${roomy[@]}" -- --gets "$z" --forget 2000 | add access
        job "$mpi" small-index, clampi_access "${fixed[@]}" HEARTH_INDEX_SIZE=400 HEARTH_CACHE_SIZE=16m -- --gets "$z" | add access
        job "$mpi" small-storage, clampi_access "${fixed[@]}" HEARTH_INDEX_SIZE=1500 HEARTH_CACHE_SIZE=1m -- --gets "$z" | add access
    done
}

completion_times() { # Fig. 9, by the index's size and by the storage's; in rounds, so that a slow minute affects all alike
    local rounds slots bytes round mpi n
    rounds=$(pick 7 2)
    slots=$(pick "100 200 400 800 1500 4000" "100 1500")
    bytes=$(pick "256k 1m 4m 16m" "1m 16m")
    table fig9 mpi,round,vary,start,strategy,gets,seconds,median_seconds,hit_ratio,conflicting,capacity_failing,adjustments,slots,bytes
    for round in $(seq "$rounds"); do
        [ "$round" = 1 ] || ! late 80 || break
        for mpi in "${mpis[@]}"; do
            say "Fig. 9: $mpi, completion times, round $round of $rounds"
            [ "$round" != 1 ] || job "$mpi" "$round,none,0,raw," clampi_time PRELOAD=no -- --gets 20000 --runs 2 | add fig9
            for n in $slots; do
                compare "$round" "$mpi" index "$n" HEARTH_INDEX_SIZE="$n" HEARTH_CACHE_SIZE=16m
            done
            for n in $bytes; do
                compare "$round" "$mpi" storage "$n" HEARTH_INDEX_SIZE=2k HEARTH_CACHE_SIZE="$n"
            done
        done
    done
}

# ROUND MPI WHAT START [K=V]...: fixed and adaptive, one after the other. A fixed cache that is too small is slow, and no claim depends
# on its exact time: two short runs suffice.
compare() {
    local round=$1 mpi=$2 prefix="$1,$3,$4" small=0
    case "$3,$4" in
    index,?00 | storage,256k | storage,1m | storage,4m) small=1 ;;
    esac
    shift 4
    if [ $small = 0 ]; then
        job "$mpi" "$prefix,off," clampi_time HEARTH_ADAPT=off "$@" -- --runs 4 | add fig9
    elif [ "$round" = 1 ]; then
        job "$mpi" "$prefix,off," clampi_time HEARTH_ADAPT=off "$@" -- --gets 20000 --runs 2 | add fig9
    fi
    job "$mpi" "$prefix,on," clampi_time HEARTH_ADAPT=on "$@" -- --runs 4 | add fig9
}

victims() { # Figs. 10 and 11: counts, not times, so one MPI over shared memory suffices
    local z=100000 runs n score
    runs=$(pick 30 8)
    table fig10 mpi,slots,scheme,what,run,get,occupied
    table fig11 mpi,slots,scheme,what,run,gets,storage_to_data,hit_ratio,occupied,visited,nonempty,conflicting,capacity,failing,entries
    for n in $(pick "1000 1500 2000 3000 4000" "1000 1500 3000"); do
        say "Figs. 10, 11: $first, victims with $n slots, Z = $z"
        for score in full temporal positional; do
            job "$first" "$n,$score," clampi_victims NET=memory HEARTH_BYPASS=never "${fixed[@]}" \
                HEARTH_INDEX_SIZE="$n" HEARTH_CACHE_SIZE=1m HEARTH_SCORE=$score -- --gets $z --runs "$runs" >"$out/victims.tmp"
            grep ",total," "$out/victims.tmp" | add fig11 || true
            [ "$n" != 1500 ] || { grep ",trace," "$out/victims.tmp" | add fig10 || true; }
        done
    done
    rm -f "$out/victims.tmp"
}

hits() {
    table hit mpi,bytes,hit_least_ns,hit_median_ns,copy_least_ns,copy_median_ns,raw_ns,hits,elided
    for mpi in "${mpis[@]}"; do
        say "full hits against memcpy: $mpi"
        job "$mpi" '' clampi_hit HEARTH_MODE=always -- --batches "$(pick 60 20)" | add hit
    done
}

streams() { # alternating in one launch; and with and without the library, launch by launch
    local turns rounds round mpi
    turns=$(pick 200 60)
    rounds=$(pick 3 1)
    table stream mpi,library,window,flush,bytes,turns,ns,tenth_ns,ratio,low,high,hits
    for mpi in "${mpis[@]}"; do
        say "stream without reuse: $mpi, three windows by turns"
        job "$mpi" with, clampi_stream -- --turns "$turns" | add stream
        job "$mpi" without, clampi_stream PRELOAD=no -- --turns "$turns" | add stream
    done
    for round in $(seq "$rounds"); do
        [ "$round" = 1 ] || ! late 80 || break
        for mpi in "${mpis[@]}"; do
            say "stream without reuse: $mpi, launches with and without the library, round $round of $rounds"
            job "$mpi" launch-without, clampi_stream PRELOAD=no -- --one 1 --turns $((turns / 2)) | add stream
            job "$mpi" launch-transparent, clampi_stream HEARTH_MODE=transparent -- --one 1 --turns $((turns / 2)) | add stream
            job "$mpi" launch-always, clampi_stream HEARTH_MODE=always -- --one 1 --turns $((turns / 2)) | add stream
        done
    done
}

say "two ranks over TCP, ${mpis[*]}, results in $out"
hits
access_costs
victims
completion_times
streams
plots mpi="$first"
bench_report clampi "$out" quick=$quick mpis="${mpis[*]}" >"$out/results.md"
sed '/^## /,$d' "$out/results.md"
finish yes '**no**'
