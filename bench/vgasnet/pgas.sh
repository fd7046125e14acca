#!/usr/bin/env bash
# The C++ programs on GASNet-EX, dht and stencil, with data of four times a node's pool: with cooperative caching and without.
#
#   pgas.sh [--quick]      after `make bench-programs`; in about 5 minutes, with --quick in about 2
#
# Four ranks, each on a virtual host of its own; where the system allows none, each an emulated node on this host. All ranks use the data of
# all: dht reads random values, stencil computes a tile on whichever rank is free. The pools of all nodes together have room for the data.
#
# The NVM is a folder of this machine's disk, throttled on each node to a fifteenth (NETWORK_TO_NVM=15) of the rate at which dht reads values
# with segments in memory, about the ratio of disk to network in the paper on vGASNet, and at least 4 MB/s. PGAS_NVM=50m sets it instead.
#
# Each program checks its results. The configurations take turns. Writes runs.csv and results.md to build/results/pgas. Needs an otherwise
# idle machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 4 "${BASH_SOURCE[0]}" "$@"
bench_start pgas ../bin/dht "openmpi mpich" "$@"
allow 300 120
work=$(mktemp -d)
nvm=$out/nvm
trap 'rm -rf "$work" "$nvm"' EXIT
network_to_nvm=${NETWORK_TO_NVM:-15}

describe_machine() {
    echo "- $(cores)"
    echo "- $(versions)"
    [ "$CLUSTER_KIND" = real ] || echo "- **no virtual hosts**: this system allows none; each rank is a node on this one (HEARTH_NODE_RANKS=1)"
    echo "- pools of $pool, data of four times that; NVM: a folder on $(df --output=source,fstype "$out" | tail -n 1 | tr -s ' ' | sed 's/ /, /'), throttled to $nvm_rate bytes/s on each node"
    echo "- load of the last minute at the start: $(busy)"
}

value() { # FIELD: of the last run
    sed -n "s/^ *\"$1\": *\([^,]*\).*/\1/p" "$work/run.json" | head -n 1
}

# Values of 4 KB; two grids of doubles, in tiles of 32 KB. Both have four times the pool.
pool=$(pick 16m 4m)
keys=$(pick 16384 4096) finds=$(pick 8192 2048)
cells=$(pick 2048 1024) steps=$(pick 9 7)

run() { # PROGRAM ROUND LINE
    local program=$1 round=$2 line=$3 options=() launch=() wire=() field row
    ! over "$program, $line" || return 0
    case $program in
    dht) options=(--keys "$keys" --bytes 4096 --finds "$finds" --seed "$((round + 1))") ;;
    stencil) options=(--cells "$cells" --tile 64 --steps "$steps") ;;
    esac
    case $line in
    dram) launch+=(--env HEARTH_NVM=off) ;;
    alone) launch+=(--env HEARTH_COOP=off) ;;
    esac
    if [ "$CLUSTER_KIND" = real ]; then launch+=(--hosts n1,n2,n3,n4); else launch+=(--env HEARTH_NODE_RANKS=1); fi
    over_tcp "$first"
    launch+=(${wire[@]+"${wire[@]}"})
    rm -rf "$work/run.json" "$nvm"
    mkdir -p "$nvm"
    if ! "$here/../test/launch.sh" "$first" 4 "${launch[@]}" --env HEARTH_NVM_DIR="$nvm" --env HEARTH_PAGE_SIZE=16k --env HEARTH_POOL_SIZE="$pool" \
        --env HEARTH_NVM_THROTTLE="$nvm_rate" --timeout 120 "$build/$first/bin/$program" --json "$work/run.json" "${options[@]}" \
        >>"$out/errors.log" 2>&1 || ! grep -qs '^}' "$work/run.json"; then
        fail "$program, $line; see $out/errors.log"
        return 0
    fi
    row=$program,$round,$line,$nvm_rate
    for field in $fields; do row=$row,$(value "$field"); done
    echo "$row" >>"$out/runs.csv"
}

fields="seconds hits misses smalls from_nvm from_home from_peers evicted nvm_reads nvm_writes"

choose_rate() { # sets nvm_rate
    nvm_rate=${PGAS_NVM:-0}
    [ "$nvm_rate" = 0 ] || return 0
    table runs ignored
    run dht 0 dram
    nvm_rate=$(awk -v s="$(value seconds)" -v n="$finds" -v by="$network_to_nvm" 'BEGIN { printf "%d\n", (s > 0 && 4 * n * 4096 / s / by > 4000000 ? 4 * n * 4096 / s / by : 4000000) }')
}

round() { # NUMBER
    local program line
    for program in dht stencil; do
        for line in coop alone dram; do
            run $program "$1" $line
        done
    done
}

say "results in $out"
choose_rate
say "the NVM is throttled to $nvm_rate bytes/s on each node"
describe_machine >"$out/machine.md"
table runs "program,round,line,nvm,$(echo "$fields" | tr ' ' ,)"
most=$(pick 7 3)
for n in $(seq "$most"); do
    [ "$n" = 1 ] || ! late "$(pick 80 60)" || break
    say "round $n of at most $most"
    round "$n"
done
echo "- load of the last minute at the end: $(busy); of which this bench is about 2 to 4" >>"$out/machine.md"
bench_report pgas "$out" >"$out/results.md"
cat "$out/results.md"
finish
