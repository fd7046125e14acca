#!/usr/bin/env bash
# Barnes-Hut (Sec. IV-B of the CLaMPI paper, Figs. 2, 12, 13 and 14): the force phase without a cache, with a direct-mapped cache of
# blocks in the program, and with Hearth.
#
#   barnes_hut.sh [--quick]      after `make bench-programs`; in about 8 minutes, with --quick in about 2
#
# With each MPI that is built under build/ (or under BUILD), as MPI.4: four ranks on two virtual hosts (where the system allows none,
# over TCP on one). Blocks and Hearth get the same memory, a share of the part of the tree on other ranks; blocks have the size that was
# the fastest of several in the first round. Caches take turns, until the intervals are within 5 % or the time is up. The number of
# bodies depends on how long a get takes on this machine. Writes runs.csv, repeats.csv, the plots and results.md to
# build/results/barnes-hut. A job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start barnes-hut ../bin/barnes-hut "openmpi mpich" "$@"
allow 480 110
limit=$(pick 150 40) budget=$(pick 8 3)
settings=()
for mpi in "${mpis[@]}"; do settings+=("$mpi.4"); done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kind=$("$here/../test/cluster/hosts.sh" with 2 printenv CLUSTER_KIND | tail -n 1)

value() { # FIELD: of the last run
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/run.json" | head -n 1
}

launch() { # SETTING [OPTION OF launch.sh]... -- [OPTION]...: leaves $work/run.json
    local mpi=${1%.*} ranks=${1#*.} options=() wire
    shift
    over_hosts "$mpi"
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    rm -f "$work/run.json"
    # an MPICH that hangs in MPI_Finalize has delivered its results
    "$here/../test/cluster/hosts.sh" with 2 "$here/../test/launch.sh" "$mpi" "$ranks" --hosts 'n1,n2' ${options[@]+"${options[@]}"} ${wire[@]+"${wire[@]}"} --timeout "$(time_left "$limit")" \
        "$build/$mpi/bin/barnes-hut" --steps 0 --quiet --json "$work/run.json" "$@" >>"$out/errors.log" 2>&1 || true
    grep -qs '^}' "$work/run.json"
}

# SETTING ROUND PART SHARE MEMORY CACHE LAYOUT BODIES [SLOTS]: one run, one line
run() {
    local setting=$1 round=$2 part=$3 share=$4 memory=$5 cache=$6 layout=$7 bodies=$8 slots=${9:-$(($5 / 32))} options=() chosen
    chosen=$work/block.$setting.$part.$share.$layout
    ! over "$setting, $part, $cache, $share %" || return 0
    case $cache in
    none) options=(-- --cache none) ;;
    blocks) options=(-- --cache blocks --cache-memory "$memory" --block "$(cat "$chosen" 2>/dev/null || echo auto)") ;;
    hearth) options=(--env HEARTH_ADAPT=off) ;;&
    hearth | adaptive)
        options+=(--preload "$build/${setting%.*}/lib/libhearth-mpi.so" --env HEARTH_CACHE_SIZE="$memory"
            --env HEARTH_INDEX_SIZE="$slots" -- --cache hearth)
        ;;
    esac
    if launch "$setting" "${options[@]}" --bodies "$bodies" --layout "$layout"; then
        [ "$cache" != blocks ] || value block >"$chosen"
        [ "$cache" != none ] || price=$(price_of "$(value force)" "$(value window_gets)" "${setting#*.}")
        printf '%s,%s,%s,%s,%s,%s,%s,%s\n' "$setting,$round,$part,$share,$memory,$cache,$layout,$bodies" "$(value us_per_body)" \
            "$(value hit_ratio),$(value remote)" "$(value window_gets)" "$(value block)" "$(value checksum)" "$(stats)" \
            "$(missed_share "$(value force)" "$(value remote)" "${setting#*.}" "$(value hit_ratio)" "$price")" >>"$out/runs.csv"
    else
        fail "$setting, $cache, $layout, $bodies bodies, $memory bytes; see $out/errors.log"
    fi
}

stats() { # outcomes of the gets; empty without the library
    echo "$(value direct),$(value conflicting),$(value capacity),$(value failing),$(value adjustments),$(value index_slots),$(value storage_bytes)"
}

# Microseconds from one get to the next on each rank, without a cache.
cost_of_get() { # SETTING
    launch "$1" -- --cache none --bodies 60 || return 1
    awk -v s="$(value force)" -v g="$(value window_gets)" -v r="${1#*.}" 'BEGIN { printf "%.1f\n", g ? s * 1e6 * r / g : 1 }'
}

# Bodies for runs without a cache, which must not take longer than the budget, and for runs with one. Of the nodes that a body visits,
# about 50 log2(bodies / 137) are on the other one of two ranks, and half as many again on the others of four.
choose() { # SETTING US
    awk -v us="$2" -v r="${1#*.}" -v budget=$budget 'BEGIN {
        for (n = 4000; n > 63; n /= 2) # at least 62.5 bodies, on a busy machine
            if (n / r * (n < 300 ? 40 : 50 * log(n / 137) / log(2)) * (r > 2 ? 1.5 : 1) * us < budget * 1e6) break
        m = budget * 1e6 * r / (25 * us) # blocks of a bad size miss some 25 times per body
        m = m > 20000 ? 20000 : m < 2000 ? 2000 : 500 * int(m / 500)
        printf "%d %d\n", n, m
    }'
}

# Bytes of the tree on other ranks: a tree of N bodies has about 1.45 N nodes of 64 bytes.
memory_of() { # SETTING BODIES SHARE
    awk -v n="$2" -v r="${1#*.}" -v s="$3" 'BEGIN { printf "%d\n", n * 1.45 * 64 * (r - 1) / r * s / 100 }'
}

# Sets few and many for the functions below.
choose_bodies() { # SETTING
    local us
    us=$(cost_of_get "$1") || return 1
    read -r few many < <(choose "$1" "$us")
    echo "$1,$us" >>"$out/costs.csv"
    say "$1: $few bodies without a cache ($us us per get), then $many with"
}

bare_round() { # ROUND
    local cache
    for cache in none blocks hearth adaptive; do
        run "$setting" "$1" bare 50 "$(memory_of "$setting" "$few" 50)" $cache in-order "$few"
    done
}

# The two strategies by memory. They are fast, and get more rounds than the slow runs below.
strategies_round() { # ROUND
    local share cache
    for share in $(pick "50 25 200" "50 25"); do
        for cache in hearth adaptive; do
            run "$setting" "strategies $1" memory "$share" "$(memory_of "$setting" "$many" "$share")" $cache in-order "$many"
        done
    done
}

# By memory, with nodes in tree order and scattered; and with an index of a twentieth of the needed size, which is nearly as slow as no
# cache and therefore runs with as few bodies.
memory_round() { # ROUND
    local share cache memory
    for share in $(pick "50 25 200" "50 25"); do
        for cache in blocks hearth adaptive; do
            run "$setting" "$1" memory "$share" "$(memory_of "$setting" "$many" "$share")" $cache in-order "$many"
        done
        [ "$share" != 50 ] || for cache in blocks hearth; do
            run "$setting" "$1" scattered "$share" "$(memory_of "$setting" "$many" "$share")" $cache scattered "$many"
        done
    done
    memory=$(memory_of "$setting" "$few" 200)
    for cache in hearth adaptive; do
        run "$setting" "$1" index 200 "$memory" $cache in-order "$few" $((memory / 64 / 2 / 20))
    done
}

# Each setting has its share of the time; the run without a cache, which matters most, comes first.
measure() {
    local few many price setting count=0
    for setting in "${settings[@]}"; do
        count=$((count + 2)) price=''
        ! over "$setting" || continue
        choose_bodies "$setting" || { fail "$setting: the first run; see $out/errors.log" && continue; }
        alternate "$setting, all three" "$(pick 9 3)" $((95 * (count - 1) / (2 * ${#settings[@]}))) \
            bare_round runs value=us_per_body keys=setting,part base=cache=none only=setting="$setting"
        alternate "$setting, fixed and adaptive" "$(pick 7 2)" $((95 * (2 * count - 1) / (4 * ${#settings[@]}))) \
            strategies_round runs value=us_per_body keys=setting,part,share base=cache=hearth only=setting="$setting"
        alternate "$setting, by memory" "$(pick 7 2)" $((95 * count / (2 * ${#settings[@]}))) \
            memory_round runs value=us_per_body keys=setting,part,share base=cache=blocks only=setting="$setting"
    done
}

# Fig. 2: as in the paper, 4 ranks and 4000 bodies; these are counts, so one MPI over shared memory suffices.
repeats() {
    local counter=$build/$first/bench/reuse.so
    [ -e "$counter" ] || { say "no bench/reuse.so: no repeated gets" && return 0; }
    say "Fig. 2: repeated gets"
    "$here/../test/launch.sh" "$first" 4 --preload "$counter" --env REUSE_FILE="$work/reuse" --timeout 60 "$build/$first/bin/barnes-hut" \
        --bodies 4000 --steps 0 --cache none --quiet >>"$out/errors.log" 2>&1 || fail "barnes-hut under reuse.so; see $out/errors.log"
    cat "$work"/reuse.* 2>/dev/null | awk -F, '{ distinct[$2] += $3 } END { for (t in distinct) print t "," distinct[t] }' | sort -n >>"$out/repeats.csv"
}

table runs setting,round,part,share,memory,cache,layout,bodies,us_per_body,hit_ratio,remote,gets,block,checksum,direct,conflicting,capacity,failing,adjustments,end_slots,end_bytes,missed_share
table costs setting,us_per_get
table repeats times,distinct
say "${settings[*]}; results in $out"
repeats
measure
plots setting="${settings[0]}"
bench_report barnes-hut "$out" hosts="$kind" >"$out/results.md"
cat "$out/results.md"
! grep -q '^Results differ' "$out/results.md" || fail "the results of the runs differ"
finish
