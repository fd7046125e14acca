#!/usr/bin/env bash
# The Local Clustering Coefficient (Sec. IV-C of the CLaMPI paper, Figs. 3, 15 and 16): without the library, with caches of fixed sizes,
# and with the adaptive one from several initial sizes.
#
#   lcc.sh [--quick]      after `make bench-programs`; in about 6 minutes, with --quick in about 1
#
# Four ranks on two virtual hosts over TCP (where the system allows none, over TCP on one), with each MPI that is built under build/ (or
# under BUILD). The storage is a share of the total size of the lists on other ranks, and the index has slots for that many lists of
# mean length. All configurations take turns, until the intervals are within 5 % or the time is up. The graph depends on how long a get
# takes on this machine. Writes runs.csv, sizes.csv, the plots and results.md to build/results/lcc. A job that fails or takes too long is
# reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 2 "${BASH_SOURCE[0]}" "$@"
bench_start lcc ../bin/lcc "openmpi mpich" "$@"
ranks=4
allow 330 60

value() { # NAME: from the results of the last run; empty if it is missing
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$out/run.json" | head -n 1
}

launch() { # MPI [OPTION OF launch.sh]... -- OPTION...: leaves run.json
    local mpi=$1 options=() wire
    shift
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    over_hosts "$mpi"
    rm -f "$out/run.json"
    # an MPICH that hangs in MPI_Finalize has delivered its results
    "$here/../test/launch.sh" "$mpi" $ranks --hosts n1,n2 ${options[@]+"${options[@]}"} ${wire[@]+"${wire[@]}"} --timeout "$(time_left "$limit")" "$build/$mpi/bin/lcc" --quiet \
        --json "$out/run.json" "$@" >>"$out/errors.log" 2>&1 || true
    grep -qs '^}' "$out/run.json"
}

# ---- the comparisons ----

# Chooses the largest graph that takes no longer than some seconds without a cache, at about 24 gets per vertex. If even the smallest
# takes longer, as on a busy machine, only some of its vertices are counted. Sets graph (options of lcc), scale, bytes (of the lists on
# other ranks) and slots (the number of these lists).
choose_graph() { # MPI
    local vertices fitting
    ! over "lcc, $1" || return 1
    limit=40
    launch "$1" -- --scale 9 --vertices 4 --mode off || return 1
    read -r scale vertices < <(awk -v s="$(value seconds)" -v g="$(value window_gets)" -v r=$ranks -v budget="$(pick 5 2)" 'BEGIN {
        us = s * 1e6 * r / (g + 1)
        for (k = 14; k > 9; k--) if (2 ^ k / r * 24 * us < budget * 1e6) break
        n = int(budget * 1e6 / (24 * us)); print k, n < 4 ? 4 : n }')
    graph=(--scale "$scale")
    [ "$vertices" -ge $(((1 << scale) / ranks)) ] || graph+=(--vertices "$vertices")
    launch "$1" -- "${graph[@]}" --mode off || return 1
    fitting=$(awk -v s="$(value seconds)" -v k="$scale" -v all="$([ ${#graph[@]} = 2 ] && echo 1 || echo 0)" -v budget="$(pick 5 2)" 'BEGIN {
        for (; s > 2 * budget && k > 9; k--) s /= 2
        for (; all && s < budget / 2 && k < 14; k++) s *= 2
        print k }')
    if [ "$fitting" != "$scale" ]; then # the estimate from a few vertices was too coarse
        scale=$fitting graph=(--scale "$fitting")
        launch "$1" -- "${graph[@]}" --mode off || return 1
    fi
    read -r bytes slots < <(awk -v e="$(value edges)" -v v="$(value vertices)" -v r=$ranks 'BEGIN { printf "%d %d\n", 8 * e * (r - 1) / r, v * (r - 1) / r }')
    limit=$(awk -v s="$(value seconds)" 'BEGIN { printf "%d\n", s * 5 + 20 }')
    say "$1: ${graph[*]}, $bytes bytes of lists on other ranks, $(value seconds) s without a cache"
}

no_room() { # gets that found no room in the storage; empty without the library
    [ -z "$(value capacity)" ] || echo $(($(value capacity) + $(value failing)))
}

run() { # MPI ROUND CONFIGURATION SHARE SLOTS [OPTION OF launch.sh]...
    local mpi=$1 round=$2 config=$3 share=$4 entries=$5 mode=always
    shift 5
    ! over "lcc, $mpi, $config $share %" || return 0
    [ "$config" != without ] || mode=off
    if launch "$mpi" "$@" -- "${graph[@]}" --mode $mode; then
        [ "$config" != without ] || price=$(price_of "$(value seconds)" "$(value window_gets)" $ranks)
        echo "$mpi,$round,$config,$share,$entries,$scale,$(value counted),$(value seconds),$(value us_per_vertex_max),$(value window_gets),$(value hit_ratio),$(value direct),$(value conflicting),$(value capacity),$(value failing),$(no_room),$(value adjustments),$(value index_slots),$(value storage_bytes),$(value checksum),$(missed_share "$(value seconds)" "$(value window_gets)" $ranks "$(value hit_ratio)" "$price")" >>"$out/runs.csv"
    else
        fail "lcc, $mpi, $config, $share % of the lists, $entries slots; see $out/errors.log"
    fi
}

cached() { # MPI ROUND CONFIGURATION SHARE SLOTS
    local adapt=off
    [ "$3" = fixed ] || adapt=on
    run "$@" --preload "$build/$1/lib/libhearth-mpi.so" --env HEARTH_ADAPT=$adapt --env HEARTH_BYPASS=never \
        --env HEARTH_CACHE_SIZE=$((bytes * $4 / 100)) --env HEARTH_INDEX_SIZE="$5"
}

# Adaptive from a hundredth of the lists, a quarter, all, and four times as much; fixed with half the room, with room for all in an
# index that is too small, and with more than enough of both; and the library's default settings.
round_of() { # ROUND
    run "$mpi" "$1" without 0 0
    cached "$mpi" "$1" adaptive 1 64
    cached "$mpi" "$1" adaptive 25 $((slots / 4))
    cached "$mpi" "$1" adaptive 100 "$slots"
    cached "$mpi" "$1" adaptive 400 $((slots * 4))
    cached "$mpi" "$1" fixed 50 $((slots * 2))
    cached "$mpi" "$1" fixed 100 $((slots / 8))
    cached "$mpi" "$1" fixed 200 $((slots * 2))
    run "$mpi" "$1" defaults 0 0 --preload "$build/$mpi/lib/libhearth-mpi.so"
}

measure() {
    local bytes slots scale graph limit price mpi count=0
    for mpi in "${mpis[@]}"; do
        count=$((count + 1)) price=''
        choose_graph "$mpi" || { over "$mpi" || fail "$mpi: the first run; see $out/errors.log"; continue; }
        alternate "lcc on $mpi" "$(pick 15 3)" $((95 * count / ${#mpis[@]})) round_of runs value=seconds keys=mpi base=config=without apart=share,slots only=mpi="$mpi"
    done
}

# ---- the sizes of gets, Fig. 3 ----

sizes() { # the paper's graph, 2^16 vertices and 2^20 edges; every rank of two counts its own gets
    local counter=$build/$first/bench/reuse.so
    [ -e "$counter" ] || { say "no bench/reuse.so: no sizes of gets" && return 0; }
    ! over "sizes of gets" || return 0
    say "Fig. 3: sizes of gets"
    rm -f "$out"/reuse.*
    "$here/../test/launch.sh" "$first" 2 --preload "$counter" --env REUSE_FILE="$out/reuse" --timeout 60 "$build/$first/bin/lcc" --quiet \
        --scale 16 --edge-factor 16 --mode off --vertices "$(pick 16384 4096)" >>"$out/errors.log" 2>&1 || fail "lcc under reuse.so; see $out/errors.log"
    awk -F, '{ gets[$1] += $2 * $3 } END { for (b in gets) print b "," gets[b] }' "$out"/reuse.* | sort -n >>"$out/sizes.csv"
    awk -F, -v block=5120 'NR > 1 { all += $2; if ($1 <= block) { fit += $2; sum += $1 * $2 } else { more += $2; blocks += int(($1 + block - 1) / block) * $2 } }
        END { if (all && fit && more) { print "share," fit / all; print "mean," sum / fit; print "blocks," blocks / more } }' "$out/sizes.csv" >>"$out/blocks.csv"
    rm -f "$out"/reuse.*
}

say "four ranks on $([ "$CLUSTER_KIND" = real ] && echo "two virtual hosts" || echo "one host: no virtual hosts here"), ${mpis[*]}, results in $out"
table runs mpi,round,config,share,slots,scale,counted,seconds,us_per_vertex,gets,hit_ratio,direct,conflicting,capacity,failing,no_room,adjustments,end_slots,end_bytes,checksum,missed_share
table sizes bytes,gets
table blocks what,value
sizes
measure
rm -f "$out/run.json"
plots mpi="$first"
bench_report lcc "$out" hosts="$CLUSTER_KIND" >"$out/results.md"
cat "$out/results.md"
! grep -q "differ between" "$out/results.md" || fail "the results of the runs differ"
finish
