#!/usr/bin/env bash
# GASNet-EX: its calls beside those of GASNet-1 that do the same, and the C++ programs on it, dht and stencil, with data of four times a
# node's pool, with cooperative caching and without. Prints each figure with its goal.
#
#   pgas.sh [--quick]      after `make bench-programs`; in about 5 minutes, with --quick in about 2
#
# Calls: vgasnet_ex, two ranks. Short batches of both interfaces take turns, so that the medians of their ratios settle on a busy machine
# too. nodes: each rank is a node, segments in pages; node: both in one node, segments in memory.
#
# Programs: four ranks, each on a virtual host of its own; where the system allows none, each an emulated node on this host. All ranks use
# the data of all: dht reads random values, stencil computes a tile on whichever rank is free. The pools of all nodes together have room
# for the data. The NVM is a folder of this machine's disk, throttled on each node to a fifteenth (NETWORK_TO_NVM=15) of the rate at which
# dht reads values with segments in memory, about the ratio of disk to network in the paper on vGASNet, and at least 4 MB/s. PGAS_NVM=50m
# sets it instead. Each program checks its results.
#
# The configurations take turns. Writes calls.csv, runs.csv and results.md to build/results/pgas. Times of programs need an otherwise idle
# machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 4 "${BASH_SOURCE[0]}" "$@"
bench_start pgas ../bin/dht "openmpi mpich" "$@"
allow 300 120
. "$here/vgasnet/nvm.sh"
nvm_open
network_to_nvm=${NETWORK_TO_NVM:-15}

# ---- the calls ----

calls() { # CONFIG ROUND
    local wire=() launch=()
    ! over "calls, $1" || return 0
    case $1,$CLUSTER_KIND in
    nodes,real) launch+=(--hosts n1,n2) ;;
    nodes,*) launch+=(--env HEARTH_NODE_RANKS=1) ;;
    node,*) launch+=(--env HEARTH_NVM=off) ;;
    esac
    [ "$1" != nodes ] || over_tcp "$first"
    launch+=(${wire[@]+"${wire[@]}"})
    rm -rf "$nvm"
    mkdir -p "$nvm"
    "$here/../test/launch.sh" "$first" 2 "${launch[@]}" --env HEARTH_NVM_DIR="$nvm" --env HEARTH_NVM_NAME=bench --timeout 60 \
        "$build/$first/bench/vgasnet_ex" --samples "$(pick 5000 2000)" --trips "$(pick 1000 500)" 2>>"$out/errors.log" >"$work/calls" ||
        fail "calls, $1; see $out/errors.log"
    sed -n "s|^[a-z][a-z ]*,[a-z]*,[0-9].*|$1,$2,&|p" "$work/calls" >>"$out/calls.csv"
}

# ---- the programs ----

# Values of 4 KB; two grids of doubles, in tiles of 32 KB. Both have four times the pool.
pool=$(pick 16m 4m)
keys=$(pick 16384 4096) finds=$(pick 8192 2048)
cells=$(pick 2048 1024) steps=$(pick 9 7)

run() { # PROGRAM ROUND LINE
    local options=() launch=() wire=()
    case $1 in
    dht) options=(--keys "$keys" --bytes 4096 --finds "$finds" --seed "$(($2 + 1))") ;;
    stencil) options=(--cells "$cells" --tile 64 --steps "$steps") ;;
    esac
    case $3 in
    dram) launch+=(--env HEARTH_NVM=off) ;;
    alone) launch+=(--env HEARTH_COOP=off) ;;
    esac
    if [ "$CLUSTER_KIND" = real ]; then launch+=(--hosts n1,n2,n3,n4); else launch+=(--env HEARTH_NODE_RANKS=1); fi
    over_tcp "$first"
    launch+=(--env HEARTH_PAGE_SIZE=16k --env HEARTH_POOL_SIZE="$pool" ${wire[@]+"${wire[@]}"})
    nvm_run "$1,$2,$3" 4 "$1" "${options[@]}"
}

fields="seconds hits misses smalls from_nvm from_home from_peers evicted nvm_reads nvm_writes"

# By the fastest of three runs: a disturbed one would make the NVM, and with it all others, too slow.
choose_rate() { # sets nvm_rate
    local times=()
    nvm_rate=${PGAS_NVM:-0}
    [ "$nvm_rate" = 0 ] || return 0
    table runs ignored
    for _ in 1 2 3; do
        run dht 0 dram
        times+=("$(value seconds)")
    done
    nvm_rate=$(printf '%s\n' "${times[@]}" | awk -v n="$finds" -v by="$network_to_nvm" '
        $1 > 0 && 4 * n * 4096 / $1 / by > rate { rate = 4 * n * 4096 / $1 / by }
        END { printf "%d\n", (rate > 4000000 ? rate : 4000000) }')
}

round() { # NUMBER
    local program line config
    for config in nodes node; do calls $config "$1"; done
    for program in dht stencil; do
        for line in coop alone dram; do
            run $program "$1" $line
        done
    done
}

say "results in $out"
choose_rate
table calls config,round,operation,interface,samples,value,low,high,least
table runs "program,round,line,nvm,$(echo "$fields" | tr ' ' ,)"
nvm_measure round "$(pick 7 3)" "each rank is a node on this one (HEARTH_NODE_RANKS=1)" "pools of $pool, data of four times that"
