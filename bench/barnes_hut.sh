#!/usr/bin/env bash
# Barnes-Hut (Sec. IV-B of the CLaMPI paper, Figs. 12 to 14): the force phase without a cache, with a direct-mapped cache of
# blocks in the program, and with Hearth under it.
#
#   barnes_hut.sh [--quick] [SETTING]...      after `make`; SETTING: MPI.2 or MPI.4, such as openmpi.4 (default: all)
#
# MPI.2 is two ranks over TCP on the loopback device, MPI.4 four ranks on two virtual hosts (where the system allows none, over
# TCP on one). Blocks and Hearth get the same memory, a share of the part of the tree that lies on other ranks, and blocks
# the size that was the fastest of several in the first round. Caches take turns, so that a slow minute strikes all alike; the
# tables show medians. The number of bodies follows from how long a get takes here. Writes runs.csv and results.md to
# build/results/barnes-hut (or under BUILD). A job that fails or takes too long is reported, and the rest goes on.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$here/../build}
out=$build/results/barnes-hut
rounds=3 limit=150 budget=12 wanted=()

usage() {
    sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case "$1" in
    --quick) rounds=1 budget=4 ;;
    openmpi.[24] | mpich.[24]) wanted+=("$1") ;;
    *) usage ;;
    esac
    shift
done

settings=()
for setting in ${wanted[@]+"${wanted[@]}"} $([ ${#wanted[@]} -gt 0 ] || echo openmpi.2 openmpi.4 mpich.2 mpich.4); do
    [ ! -x "$build/${setting%.*}/bin/barnes-hut" ] || settings+=("$setting")
done
if [ ${#settings[@]} = 0 ]; then
    echo "bench-barnes-hut: nothing is built under $build: run make first" >&2
    exit 1
fi
mkdir -p "$out"
rm -f "$out"/*
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kind=$("$here/../test/cluster/hosts.sh" with 2 printenv CLUSTER_KIND | tail -n 1)

say() {
    printf 'bench-barnes-hut: %4ds  %s\n' $SECONDS "$*"
}

fail() {
    say "FAILED or out of time: $*" | tee -a "$out/failed.log" >&2
}

value() { # FIELD: of the last run
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/run.json" | head -n 1
}

launch() { # SETTING [OPTION OF launch.sh]... -- [OPTION]...: leaves $work/run.json
    local mpi=${1%.*} ranks=${1#*.} net=(--tcp) around=() options=()
    shift
    [ "$ranks" = 2 ] || { net=(--hosts 'n1,n2') && around=("$here/../test/cluster/hosts.sh" with 2); }
    [ "$mpi" != mpich ] || [ ! -e "$build/$mpi/test/nofin.so" ] || options+=(--preload "$build/$mpi/test/nofin.so")
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    rm -f "$work/run.json"
    # an MPICH that hangs in MPI_Finalize has delivered its results
    ${around[@]+"${around[@]}"} "$here/../test/launch.sh" "$mpi" "$ranks" "${net[@]}" ${options[@]+"${options[@]}"} --timeout $limit \
        "$build/$mpi/bin/barnes-hut" --steps 0 --quiet --json "$work/run.json" "$@" >>"$out/errors.log" 2>&1 || true
    grep -qs '^}' "$work/run.json"
}

# SETTING ROUND PART SHARE MEMORY CACHE LAYOUT BODIES: one run, one line
run() {
    local setting=$1 round=$2 part=$3 share=$4 memory=$5 cache=$6 layout=$7 bodies=$8 options=() chosen
    chosen=$work/block.$setting.$part.$share.$layout
    shift 8
    case $cache in
    none) options=(-- --cache none) ;;
    blocks) options=(-- --cache blocks --cache-memory "$memory" --block "$(cat "$chosen" 2>/dev/null || echo auto)") ;;
    hearth) options=(--env HEARTH_ADAPT=off) ;;&
    hearth | adaptive)
        options+=(--preload "$build/${setting%.*}/lib/libhearth-mpi.so" --env HEARTH_CACHE_SIZE="$memory"
            --env HEARTH_INDEX_SIZE=$((memory / 32)) -- --cache hearth)
        ;;
    esac
    if launch "$setting" "${options[@]}" --bodies "$bodies" --layout "$layout"; then
        [ "$cache" != blocks ] || value block >"$chosen"
        printf '%s,%s,%s,%s,%s,%s\n' "$setting,$round,$part,$share,$memory,$cache,$layout,$bodies" "$(value us_per_body)" \
            "$(value hit_ratio),$(value remote)" "$(value window_gets)" "$(value block)" "$(value checksum)" >>"$out/runs.csv"
    else
        fail "$setting, $cache, $layout, $bodies bodies, $memory bytes; see $out/errors.log"
    fi
}

# Microseconds from one get to the next on each rank, without a cache.
cost_of_get() { # SETTING
    launch "$1" -- --cache none --bodies 200 || return 1
    awk -v s="$(value force)" -v g="$(value window_gets)" -v r="${1#*.}" 'BEGIN { printf "%.1f\n", g ? s * 1e6 * r / g : 1 }'
}

# Bodies for runs without a cache, which must not take longer than the budget, and for those with one. Of the nodes that a body
# visits, about 50 log2(bodies / 137) lie on the other one of two ranks, and half as many again on the others of four.
choose() { # SETTING US
    awk -v us="$2" -v r="${1#*.}" -v budget=$budget 'BEGIN {
        for (n = 4000; n > 500; n /= 2)
            if (n / r * 50 * (r > 2 ? 1.5 : 1) * log(n / 137) / log(2) * us < budget * 1e6) break
        m = budget * 1e6 * r / (100 * us) # blocks of a bad size miss some 100 times per body
        m = m > 10000 ? 10000 : m < 2000 ? 2000 : 500 * int(m / 500)
        printf "%d %d\n", n, m
    }'
}

# Bytes of the tree that lie on other ranks: a tree of N bodies has about 1.45 N nodes of 64 bytes.
memory_of() { # SETTING BODIES SHARE
    awk -v n="$2" -v r="${1#*.}" -v s="$3" 'BEGIN { printf "%d\n", n * 1.45 * 64 * (r - 1) / r * s / 100 }'
}

measure() { # SETTING
    local setting=$1 us few many round share cache
    us=$(cost_of_get "$setting") || { fail "$setting: the first run" && return 0; }
    read -r few many < <(choose "$setting" "$us")
    echo "$setting,$us" >>"$out/costs.csv"
    for round in $(seq $rounds); do
        say "$setting: $few bodies without a cache ($us us per get), then $many with; round $round of $rounds"
        for cache in none blocks hearth adaptive; do
            run "$setting" "$round" bare 50 "$(memory_of "$setting" "$few" 50)" $cache in-order "$few"
        done
        for share in 12 25 50 200; do
            for cache in blocks hearth adaptive; do
                run "$setting" "$round" memory $share "$(memory_of "$setting" "$many" $share)" $cache in-order "$many"
            done
        done
        for cache in blocks hearth; do
            run "$setting" "$round" scattered 50 "$(memory_of "$setting" "$many" 50)" $cache scattered "$many"
        done
    done
}

echo setting,round,part,share,memory,cache,layout,bodies,us_per_body,hit_ratio,remote,gets,block,checksum >"$out/runs.csv"
echo setting,us_per_get >"$out/costs.csv"
say "${settings[*]}; results in $out"
for setting in "${settings[@]}"; do
    measure "$setting"
done
awk -F, -f "$here/barnes_hut_report.awk" -v rounds=$rounds -v kind="$kind" "$out/costs.csv" "$out/runs.csv" >"$out/results.md"
[ -s "$out/errors.log" ] || rm -f "$out/errors.log"
cat "$out/results.md"
touch "$out/failed.log"
failed=$(wc -l <"$out/failed.log")
say "$failed jobs failed: $out/results.md"
[ "$failed" = 0 ] && ! grep -q 'differ' "$out/results.md"
