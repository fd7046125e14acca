#!/usr/bin/env bash
# Times of MPI calls with Hearth and without, by call and size, as the OSU micro-benchmarks measure them: where is Hearth faster, where slower?
#
#   osu.sh [--quick]      after `make bench-programs`; in about 40 minutes, with --quick (fewer sizes and rounds) in 6
#
# Two and four ranks on this machine, with each MPI that is built under build/ (or under BUILD), on one node, and with each rank (of four:
# two ranks) a node, over TCP on the loopback device. The same programs run without Hearth and with it, in turn.
#   ONLY=REGEXP      only the jobs MPI.PLACE.GROUP.RANKS that match, as in ONLY='openmpi.node.messages'; osu_cells.c names the groups
#   SETTINGS="K=V"   settings of the runs with Hearth; default: none
#   ROUNDS=N         number of rounds; fewer than six give no 95 % interval
# Writes cells.csv, start.csv (an empty program) and results.md to build/results/osu: each cell's ratio of times to the program without
# Hearth, and the cells that Hearth has lost. A job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start osu osu_cells "openmpi mpich" "$@"
allow 2400 360

wanted() { # JOB
    [[ $1 =~ ${ONLY:-} ]]
}

configure() { # MPI PLACE RANKS CONFIGURATION: options of launch.sh in `launch`
    local setting
    launch=()
    if [ "$2" = nodes ]; then
        over_hosts "$1"
        launch=(--tcp "${wire[@]}")
    elif [ "$3" -gt "$(nproc)" ] && [ "$1" = mpich ] && [ -e "$build/$1/test/yield.so" ]; then
        launch=(--preload "$build/$1/test/yield.so") # Open MPI knows by itself that its ranks share cores
    fi
    [ "$4" = hearth ] || return 0
    launch+=(--defaults --preload "$build/$1/lib/libhearth-mpi.so")
    [ "$2" = node ] || launch+=(--env HEARTH_NODE_RANKS=$((($3 + 1) / 2)))
    for setting in ${SETTINGS:-}; do launch+=(--env "$setting"); done
}

in_turn() { # ROUND: the order of the configurations
    [ $(($1 % 2)) = 1 ] && echo "bare hearth" || echo "hearth bare"
}

job() { # MPI PLACE RANKS CONFIGURATION ROUND GROUP
    local nodes=0
    [ "$2" = node ] || nodes=1
    configure "$1" "$2" "$3" "$4"
    "$here/../test/launch.sh" "$1" "$3" "${launch[@]}" --timeout "$(pick 180 60)" "$build/$1/bench/osu_cells" "$6" --nodes $nodes \
        --milliseconds "$(pick 10 3)" --sizes "$sizes" 2>>"$out/errors.log" >"$out/job.tmp" ||
        fail "osu, exit status $?, round $5, $1, $2, $3 ranks, $4, $6"
    grep -E '^[a-z_.]+,[0-9]+,[0-9]+,' "$out/job.tmp" | sed "s|^|$1,$2,$3,$4,$5,|" >>"$out/cells.csv" || true
    rm -f "$out/job.tmp"
}

start() { # MPI RANKS CONFIGURATION ROUND: launches an empty program; the bytes of a rank are of another launch
    local begun ended kb
    configure "$1" node "$2" "$3"
    begun=${EPOCHREALTIME/[.,]/}
    "$here/../test/launch.sh" "$1" "$2" "${launch[@]}" --timeout 90 "$build/$1/bench/osu_start" 2>>"$out/errors.log" >/dev/null ||
        fail "osu_start, exit status $?, round $4, $1, $2 ranks, $3"
    ended=${EPOCHREALTIME/[.,]/}
    kb=$("$here/../test/launch.sh" "$1" "$2" "${launch[@]}" --timeout 90 "$build/$1/bench/osu_start" --memory 2>>"$out/errors.log") ||
        fail "osu_start --memory, exit status $?, round $4, $1, $2 ranks, $3"
    echo "$1,$2,$3,$4,$((ended - begun)),$kb" >>"$out/start.csv"
}

round() { # ROUND MPI
    local place group config ranks
    for place in node nodes; do
        for group in messages.2 threads.2 collectives.2 allocate.2 create.2 dynamic.2 $(pick "pairs.4 collectives.4" ""); do
            wanted "$2.$place.$group" && ! over "osu, $2.$place.$group, round $1" || continue
            for config in $(in_turn "$1"); do
                job "$2" "$place" "${group#*.}" "$config" "$1" "${group%.*}"
            done
        done
    done
    for ranks in $(pick "2 8 64" "2 8"); do
        wanted "$2.node.start.$ranks" && ! over "osu, $2.node.start.$ranks, round $1" || continue
        for config in $(in_turn "$1"); do
            start "$2" "$ranks" "$config" "$1"
        done
    done
}

sizes=$(pick 1,8,64,512,4096,16384,32768,65536,131072,262144,524288,1048576,4194304 8,4096,65536,1048576)
table cells mpi,place,ranks,config,round,case,bytes,samples,ns,low,high,least
table start mpi,ranks,config,round,us,kb
rounds=${ROUNDS:-$(pick 9 6)}
for round in $(seq "$rounds"); do
    [ "$round" = 1 ] || ! late 90 || break
    for mpi in "${mpis[@]}"; do
        say "$mpi, round $round of at most $rounds"
        round "$round" "$mpi"
    done
done
{
    echo "# Hearth beside the MPI alone, by call and size"
    echo
    echo "- $(cores)"
    echo "- $(versions)"
    echo "- settings: ${SETTINGS:-none}; load of the last minute at the end: $(busy)"
    echo
    bench_report osu "$out"
} >"$out/results.md"
cat "$out/results.md"
finish
