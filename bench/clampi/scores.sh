#!/usr/bin/env bash
# The gain of scores by the program: the Local Clustering Coefficient in a cache of a fixed size, too small for the lists that are read,
# with victims chosen without such scores, by size, and by the degree of the vertex.
#
#   scores.sh [ROUNDS]      after `make bench-programs`; default: 3 rounds, about 1 minute each on two idle cores
#
# Two ranks over TCP on the loopback device, with each MPI that is built under build/ (or under BUILD). The scores take turns, so that a
# slow minute affects all alike; the table shows medians, and the ratios of the median and of the minimal time to those without scores.
# SCALE, EDGE_FACTOR and VERTICES (0: all) choose the graph, and SHARES the sizes of the cache, in percent of the lists on the other
# rank.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
rounds=${1:-3} ranks=2
scale=${SCALE:-14} edge_factor=${EDGE_FACTOR:-16} vertices=${VERTICES:-0} shares=${SHARES:-5 10 20 50}
case $rounds in
--help) usage 0 ;;
'' | *[!0-9]* | 0) usage 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

value() { # NAME: from the results of the last run
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/run.json" | head -n 1
}

run() { # MPI SCORE BYTES SLOTS
    local sample=()
    [ "$vertices" = 0 ] || sample=(--vertices "$vertices")
    rm -f "$work/run.json"
    "$here/../test/launch.sh" "$1" $ranks --tcp --preload "$build/$1/lib/libhearth-mpi.so" --timeout 100 \
        --env HEARTH_ADAPT=off --env HEARTH_BYPASS=never --env HEARTH_CACHE_SIZE="$3" --env HEARTH_INDEX_SIZE="$4" \
        "$build/$1/bin/lcc" --scale "$scale" --edge-factor "$edge_factor" "${sample[@]}" --score "$2" --quiet \
        --json "$work/run.json" 2>>"$work/errors" || true
    if [ -z "$(value hit_ratio)" ]; then
        echo "scores: $1 with score $2 and $3 bytes left no results" >&2
        cat "$work/errors" >&2
        exit 1
    fi
}

# A fair fixed index: as many slots as lists of mean length fit into the storage.
sizes() { # MPI: one line per share: share, bytes, slots
    local share
    run "$1" none 64k 1k
    for share in $shares; do
        awk -v e="$(value edges)" -v v="$(value vertices)" -v r=$ranks -v s="$share" 'BEGIN {
            lists = 8 * e; bytes = lists * (r - 1) / r * s / 100
            slots = bytes / (lists / v)
            printf "%d %d %d\n", s, bytes, slots < 64 ? 64 : slots
        }'
    done
}

measure() { # MPI: a table
    local round score share bytes slots
    echo share,score,hit_ratio,bytes_served,window_bytes,us_per_vertex,checksum
    sizes "$1" >"$work/sizes"
    for round in $(seq "$rounds"); do
        while read -r share bytes slots; do
            for score in none size degree; do
                run "$1" $score "$bytes" "$slots" </dev/null
                echo "$share,$score,$(value hit_ratio),$(value bytes_served),$(value window_bytes),$(value us_per_vertex_max),$(value checksum)"
            done
        done <"$work/sizes"
    done
}

tabulate() { # MPI: from lines.csv
    bench_report scores "$work/lines.csv" mpi="$1" | tee "$work/table"
    ! grep -q FAILED "$work/table"
}

found=0
for mpi in openmpi mpich; do
    [ -x "$build/$mpi/bin/lcc" ] || continue
    found=1
    measure $mpi >"$work/lines.csv"
    tabulate $mpi
done
if [ $found = 0 ]; then
    echo "scores: nothing is built under $build: run make bench-programs first" >&2
    exit 1
fi
