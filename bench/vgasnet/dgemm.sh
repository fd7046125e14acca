#!/usr/bin/env bash
# DGEMM by SUMMA (Fig. 11 of the vGASNet paper): the program dgemm with its matrices in memory, and in segments on NVM with pools that
# hold all of them (in memory) or not (out of core), each with and without cooperative caching.
#
#   dgemm.sh [--quick]      after `make bench-programs`; in about 4 minutes, with --quick in about 1
#
# hosts.4 is four ranks on two virtual hosts (where the system allows none, on two emulated nodes). The ranks are a row of the grid:
# each needs all of A again for each column of its tiles of C, and of B its own columns. Out of core, the job's data exceed the pools of
# both nodes together. node.1 and node.2 are one and two ranks on this machine, in memory.
#
# The NVM is a folder of this machine's disk, throttled to the ratio of NVM to compute speed in the paper: two SATA disks, about 0.9
# GB/s, and some 200 GFLOP/s of a node give 4.5 MB/s for each GFLOP/s. A run at the start measures the GFLOP/s here; the rate is at
# least 24 MB/s (DGEMM_NVM=50m sets it instead).
#
# Every product is verified. The configurations (lines of the figure) take turns. Uses the programs under build/ (or under BUILD), of one
# MPI: all measured traffic goes through Hearth's own network. Writes runs.csv and results.md to build/results/dgemm. Needs an otherwise
# idle machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 2 "${BASH_SOURCE[0]}" "$@"
bench_start dgemm ../bin/dgemm "openmpi mpich" "$@"
allow 240 60
. "$here/vgasnet/nvm.sh"
nvm_open

# Quick: a quarter of the data, in pages half as large.
size=$(pick 2048 1024) block=$(pick 128 64) page=$(pick 64k 32k) pool=$(pick 36m 9m)
near_size=$(pick 1536 1024)

configure() { # SETTING LINE: sets launch, options
    local wire=()
    launch=() options=()
    case $1 in
    hosts.4) options=(--size "$size" --block "$block" --grid 1x4 --group $((size / block))x1 --repeats 3) ;;
    node.*) options=(--size "$near_size" --block 256 --repeats 5) ;;
    esac
    case $1,$CLUSTER_KIND in
    hosts.4,real) launch+=(--hosts 'n1,n2') ;;
    hosts.4,*) launch+=(--env HEARTH_NODE_RANKS=2) ;;
    esac
    case $2 in
    dram) launch+=(--env HEARTH_NVM=off) ;;
    memory*) launch+=(--env HEARTH_POOL_SIZE=512m) ;;
    out*) launch+=(--env HEARTH_POOL_SIZE="$pool") ;;
    esac
    case $2 in *-alone) launch+=(--env HEARTH_COOP=off) ;; esac
    [ "$1" != hosts.4 ] || over_tcp "$first"
    launch+=(--env HEARTH_PAGE_SIZE="$page" ${wire[@]+"${wire[@]}"})
}

run() { # SETTING ROUND LINE
    local launch options
    configure "$1" "$3"
    nvm_run "$1,$2,$3" "${1#*.}" dgemm --verify --quiet "${options[@]}"
}

fields="size block seconds gflops blas communication gets error hits misses faults from_nvm from_home from_peers evicted written_back nvm_reads nvm_writes"

round() { # NUMBER: lines with a goal come first
    local line ranks
    for line in out out-alone; do
        run hosts.4 "$1" $line
    done
    for ranks in 1 2; do
        for line in dram memory; do
            run node.$ranks "$1" $line
        done
    done
    for line in dram memory memory-alone; do
        run hosts.4 "$1" $line
    done
}

# Sets nvm_rate, from the speed in memory. At least 24 MB/s: a machine that is busy at the start would otherwise get an unusably slow
# disk.
choose_rate() {
    nvm_rate=${DGEMM_NVM:-0}
    [ "$nvm_rate" = 0 ] || return 0
    table runs ignored
    run hosts.4 0 dram
    nvm_rate=$(awk -v g="$(value gflops)" 'BEGIN { rate = g / 2 * 4500; printf "%dk\n", (rate > 24000 ? rate : 24000) }')
}

say "results in $out"
choose_rate
table runs "setting,round,line,nvm,$(echo "$fields" | tr ' ' ,)"
nvm_measure round "$(pick 9 3)" "hosts.4 is two nodes of two ranks on this one (HEARTH_NODE_RANKS=2)" ''
