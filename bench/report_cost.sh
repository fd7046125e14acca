#!/usr/bin/env bash
# The cost of a report: programs alone, with the library, and with the library and HEARTH_REPORT=FILE.json, alternating.
#
#   report_cost.sh [--quick]      after `make bench-programs`; in about 10 minutes, with --quick in 2
#
# Applications on two ranks: lcc, which gets small blocks, and halo fds, which sends thousands of messages. Their unit is seconds of the part that they
# time: neither the start nor the end of a report is in it, whose instructions are a row of their own. With --quick that part of lcc is so short that the
# work which is free at the beginning (overhead.h) shows. Single calls (report_calls.c), in nanoseconds, and in instructions counted by callgrind if it is installed: there every call takes long
# and is therefore timed, which is the most that observing a call can cost. Gets are of few blocks, all of which the analyses follow, and of many.
# Writes runs.csv and results.md to build/results/report-cost.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bench_start report-cost report_calls "openmpi mpich" "$@"
allow 600 120

configure() { # MPI CONFIGURATION: options of launch.sh in `launch`
    launch=()
    [ "$2" = bare ] || launch+=(--preload "$build/$1/lib/libhearth-mpi.so")
    [ "$2" != report ] || launch+=(--env HEARTH_REPORT="$out/report.json")
}

job() { # MPI CONFIGURATION ROUND CASE RANKS COMMAND...: the command prints its time
    local mpi=$1 config=$2 round=$3 what=$4 ranks=$5 value
    shift 5
    ! over "$what, $mpi, $config" || return 0
    configure "$mpi" "$config"
    value=$("$here/../test/launch.sh" "$mpi" "$ranks" "${launch[@]}" --timeout 100 "$@" 2>>"$out/errors.log" | tail -n 1) ||
        fail "$what, exit status $?, $mpi, $config"
    [ ! -s "$out/app.json" ] || value=$(sed -n 's/.*"seconds": \([0-9.e+-]*\).*/\1/p' "$out/app.json")
    rm -f "$out/app.json"
    [ -z "$value" ] || echo "$mpi,$config,$round,$what,$value" >>"$out/runs.csv"
}

# The three runs of a case follow each other, each round in another order.
alternate() { # MPI ROUND CASE RANKS COMMAND...
    local mpi=$1 round=$2 config orders=('bare library report' 'report bare library' 'library report bare')
    shift 2
    for config in ${orders[round % 3]}; do job "$mpi" "$config" "$round" "$@"; done
}

each() { # MPI ROUND
    local bin=$build/$1/bin
    alternate "$1" "$2" 'lcc, transparent, s' 2 "$bin/lcc" --scale "$(pick 15 13)" --mode transparent --quiet --json "$out/app.json"
    alternate "$1" "$2" 'lcc, always, s' 2 "$bin/lcc" --scale "$(pick 15 13)" --mode always --quiet --json "$out/app.json"
    alternate "$1" "$2" 'halo fds, s' 2 "$bin/halo" fds --steps "$(pick 10 4)" --quiet --json "$out/app.json"
    alternate "$1" "$2" 'message to itself, ns' 1 "$build/$1/bench/report_calls" messages --count "$(pick 1000000 200000)"
    alternate "$1" "$2" 'get of 64 blocks, ns' 2 "$build/$1/bench/report_calls" gets --count "$(pick 1000000 200000)"
    alternate "$1" "$2" 'get of 65536 blocks, ns' 2 "$build/$1/bench/report_calls" gets --blocks 65536 --count "$(pick 1000000 200000)"
}

# Instructions of a message: the difference of two runs of different length, which begin and end alike.
instructions() { # MPI CONFIGURATION COUNT
    configure "$1" "$2"
    "$here/../test/launch.sh" "$1" 1 "${launch[@]}" --timeout 100 valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$build/$1/bench/report_calls" messages --count "$3" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

count_instructions() { # MPI CONFIGURATION
    local short long
    ! over "instructions, $1, $2" || return 0
    short=$(instructions "$1" "$2" 2000) long=$(instructions "$1" "$2" 12000) || true
    [ -n "$short" ] && [ -n "$long" ] || return 0
    echo "$1,$2,1,message to itself, instructions,$(((long - short) / 10000))" >>"$out/runs.csv"
    echo "$1,$2,1,start and end, instructions,$((short - (long - short) / 5))" >>"$out/runs.csv"
}

# Instructions of rank 0 inside its loop of gets.
instructions_of_gets() { # MPI CONFIGURATION BLOCKS COUNT
    configure "$1" "$2"
    # shellcheck disable=SC2016 # the ranks expand it
    "$here/../test/launch.sh" "$1" 2 "${launch[@]}" --timeout 200 sh -c 'exec valgrind --tool=callgrind --toggle-collect=report_calls_gets \
        --callgrind-out-file="$0.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"' "$out/callgrind" "$build/$1/bench/report_calls" gets \
        --blocks "$3" --count "$4" >>"$out/errors.log" 2>&1
    sed -n 's/^summary: //p' "$out/callgrind.0"
    rm -f "$out"/callgrind.[01]
}

count_gets() { # MPI CONFIGURATION BLOCKS
    local short long
    ! over "instructions of gets, $1, $2" || return 0
    short=$(instructions_of_gets "$1" "$2" "$3" 20000) long=$(instructions_of_gets "$1" "$2" "$3" 60000) || true
    [ -z "$short" ] || [ -z "$long" ] || echo "$1,$2,1,get of $3 blocks, instructions,$(((long - short) / 40000))" >>"$out/runs.csv"
}

# ---- the table ----

# The cases contain a comma: the last field is the value.
summary() {
    awk -F, 'NR > 1 {
            what = $4; for (i = 5; i < NF; i++) what = what "," $i
            key = $1 "|" what "|" $2; row = $1 "|" what
            if (!(row in seen)) { seen[row] = 1; rows[++n] = row }
            values[key] = values[key] " " $NF
        }
        function sorted(key, list,    count, i, k, x) {
            count = split(values[key], list, " ")
            for (i = 2; i <= count; i++) { x = list[i] + 0; for (k = i - 1; k > 0 && list[k] + 0 > x; k--) list[k + 1] = list[k]; list[k + 1] = x }
            return count
        }
        function middle(key,    list, count) { count = sorted(key, list); return count ? (list[int((count + 1) / 2)] + list[int((count + 2) / 2)]) / 2 : 0 }
        function least(key,    list) { return sorted(key, list) ? list[1] + 0 : 0 }
        function percent(now, before) { return before ? sprintf("%+.1f %%", 100 * (now / before - 1)) : "-" }
        END {
            print "| MPI | case | alone: median, least | library | report | report against library: median, least |"
            print "|---|---|---|---|---|---|"
            for (i = 1; i <= n; i++) {
                split(rows[i], part, "|")
                b = rows[i] "|bare"; l = rows[i] "|library"; r = rows[i] "|report"
                printf "| %s | %s | %.4g, %.4g | %.4g, %.4g | %.4g, %.4g | %s, %s |\n", part[1], part[2], middle(b), least(b), middle(l), least(l),
                    middle(r), least(r), percent(middle(r), middle(l)), percent(least(r), least(l))
            }
        }' "$out/runs.csv"
}

table runs mpi,config,round,case,value
for round in $(seq "$(pick 9 3)"); do
    [ "$round" = 1 ] || ! late 80 || break
    for mpi in "${mpis[@]}"; do
        say "$mpi, round $round"
        each "$mpi" "$round"
    done
done
if command -v valgrind >/dev/null; then
    for mpi in "${mpis[@]}"; do
        for config in bare library report; do
            count_instructions "$mpi" "$config"
            count_gets "$mpi" "$config" 64
            count_gets "$mpi" "$config" 65536
        done
    done
fi
{
    echo "# What a report costs"
    echo
    echo "- $(cores)"
    echo "- $(versions)"
    echo "- load of the last minute at the end: $(busy)"
    echo
    summary
} >"$out/results.md"
cat "$out/results.md"
finish
