#!/usr/bin/env bash
# The simulations: flow control at up to 180 000 clients, pages at up to 42 nodes, memory at up to 10^6 ranks, and lcc and barnes-hut on
# a simulated machine of up to 128 hosts.
#
#   sim.sh [--quick]      after `make bench-programs`; --quick: smaller sizes, especially for the programs under SimGrid
#
# Uses the first tree under build/ (or under BUILD) that has them. Writes one CSV per simulation, the plots and results.md to
# build/results/sim. Everything is simulated, and every run gives the same numbers.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bench_start sim ../sim/sim_flow "mpich openmpi" "$@"
allow 3600 600
tree=$build/$first/sim
for name in ${!HEARTH_*}; do unset "$name"; done
failed=0

simulate() { # NAME TITLE LIMIT PROGRAM [OPTION]...: a section of results.md
    local name=$1 title=$2 limit=$3 program=$4
    shift 4
    ! over "$title" || return 0
    say "$title"
    { printf '\n## %s\n\n`%s %s`\n\n' "$title" "$program" "${*//$out\//}"; } >>"$out/results.md"
    if timeout -k 5 "$(time_left "$limit")" "$tree/$program" "$@" >"$out/$name.txt" 2>>"$out/errors.log"; then
        sed -n '/^|/p' "$out/$name.txt" >>"$out/results.md"
        { echo && echo '```' && sed '/^|/d; /^$/d' "$out/$name.txt" && echo '```'; } >>"$out/results.md"
    else
        say "FAILED or out of time: $program $*" | tee -a "$out/results.md"
        failed=$((failed + 1))
    fi
    rm -f "$out/$name.txt"
}

# ---- programs on a simulated machine ----

# One job: its JSON file. MODE: off; fixed or adaptive, with the paper's ratio of cache to working set.
job() { # PROGRAM MODE RANKS CACHE-BYTES INDEX-ENTRIES WORK-NS [ARGUMENT]...
    local program=$1 mode=$2 ranks=$3 bytes=$4 entries=$5 work=$6 adapt=on
    shift 6
    [ "$mode" = adaptive ] || adapt=off
    SIM_WORK_NS=$work HEARTH_BYPASS=never HEARTH_SUSPEND=0 HEARTH_ADAPT=$adapt HEARTH_CACHE_SIZE=$bytes HEARTH_INDEX_SIZE=$entries \
        timeout -k 5 "$(time_left "$(pick 1200 300)")" "$here/../sim/smpi.sh" "$ranks" "$tree/$program" --progress none --quiet \
        --json "$out/job.json" "$@" >>"$out/errors.log" 2>&1
}

number() { # NAME: of the JSON file; 0 if it is missing
    sed -nE "s/^ *\"$1\": *([-0-9.e+]+),?$/\1/p" "$out/job.json" | head -n 1 | grep . || echo 0
}

row() { # PROGRAM FILE PER-RANK RANKS MODE TIME-FIELD
    echo "$4,$5,$3,$(number "$6"),$(number hit_ratio),$(number window_gets),$(number window_bytes),$(number direct),$(number conflicting),$(number capacity),$(number failing),$(number adjustments),$(number index_slots),$(number storage_bytes),$(($(number conflicting) + $(number capacity) + $(number failing)))" >>"$out/$2.csv"
}

weak_scaling() { # PROGRAM CSV PER-RANK TIME-FIELD CACHE INDEX WORK: `arguments` holds the arguments of a job
    local program=$1 csv=$2 per_rank=$3 field=$4 cache=$5 index=$6 work=$7 ranks mode
    table "$csv" ranks,mode,per_rank,us,hit_ratio,gets,bytes,direct,conflicting,capacity,failing,adjustments,index_slots,storage_bytes,others
    for ranks in 16 32 64 128; do
        for mode in off fixed adaptive; do
            ! over "$program, $ranks ranks, $mode" || return 0
            say "$program, $ranks ranks, $mode"
            arguments "$ranks" "$mode"
            if job "$program" $mode $ranks "$cache" "$index" "$work" "${args[@]}"; then
                row "$program" "$csv" "$per_rank" $ranks $mode "$field"
            else
                say "FAILED or out of time: $program, $ranks ranks, $mode" | tee -a "$out/results.md"
                failed=$((failed + 1))
            fi
            rm -f "$out/job.json"
        done
    done
}

log2() {
    local n=$1 log=0
    while [ "$n" -gt 1 ]; do n=$((n / 2)) log=$((log + 1)); done
    echo $log
}

# lcc: the paper has 2^15 vertices, 128 MB and 128 K entries per rank. All three are divided by the same number.
lcc() {
    local bits
    bits=$(pick 6 4)
    arguments() {
        args=(--scale $(($(log2 "$1") + bits)) --mode "$([ "$2" = off ] && echo off || echo always)")
    }
    weak_scaling sim_lcc lcc $((1 << bits)) us_per_vertex_mean $((134217728 >> (15 - bits))) $((131072 >> (15 - bits))) 0.2
    {
        printf '\n## LCC, weak scaling, Figs. 17 and 18 (Sect. IV-C2): simulated\n\n'
        echo "2^$bits vertices per rank (the paper: 2^15), 16 edges for each; cache $((134217728 >> (15 - bits))) bytes and $((131072 >> (15 - bits))) entries: the same ratio to the graph as the paper's 128 MB and 128 K. Gets of about 2 us on a dragonfly; time per vertex. The paper gives no times in its text; its adaptive cache makes 1 adjustment at 64 ranks, to twice the storage, and 6 at 128, to four times; the fixed cache has more accesses without room from 64 on."
        echo
        bench_report sim "$out" table=lcc
    } >>"$out/results.md"
}

# barnes-hut: the paper has 1.5 K bodies (caption of Fig. 14), 2 MB and 30 K entries per rank.
barnes_hut() {
    local bodies
    bodies=$(pick 24 8)
    arguments() {
        args=(--bodies $((bodies * $1)) --steps 0 --cache "$([ "$2" = off ] && echo none || echo hearth)")
    }
    weak_scaling sim_barnes-hut barnes-hut "$bodies" us_per_body $((2097152 * bodies / 1536)) $((30000 * bodies / 1536)) 0.2
    {
        printf '\n## Barnes-Hut, weak scaling, Fig. 14 (Sect. IV-B): simulated\n\n'
        echo "$bodies bodies per rank (the paper: 1.5 K by its caption, 8 K by its text); cache $((2097152 * bodies / 1536)) bytes and $((30000 * bodies / 1536)) entries: the same ratio to the bodies as the paper's 2 MB and 30 K. Force time per body; only the work on data from gets is charged. The paper: up to about 5x faster than without a cache, no adjustment."
        echo
        bench_report sim "$out" table=barnes-hut
    } >>"$out/results.md"
}

{
    echo "# Simulations"
    echo
    echo "Everything here is simulated: Hearth's own state machines, caches and programs over models of networks, devices and the time of work. doc/scaling.md says what is real and what is a model."
} >"$out/results.md"

# The simulations that answer the papers' figures come first.
simulate flow "Flow control: one helper, 8 to 180 000 clients" 900 sim_flow --csv "$out/flow.csv" --clients "$(pick 8,1k,10k,180k 8,1k,180k)" --all-operations "$(pick 3 1)"
simulate pages "Pages: Figs. 8 to 10, 1 to 42 nodes" 1200 sim_pages --csv "$out/pages.csv" --scale "$(pick 1 16)"
simulate pages_third "Pages: operations of a few bytes on pages that a third node holds, and a bare message with its answer" 60 sim_pages --csv "$out/pages.csv" --patterns third --modes hearth,bare
if [ -e "$tree/sim_lcc" ] && command -v smpirun >/dev/null; then
    lcc
    [ ! -e "$tree/sim_barnes-hut" ] || barnes_hut
else
    say "no SimGrid (package libsimgrid-dev): no programs on simulated machines" | tee -a "$out/results.md"
fi
simulate pages_64k "Pages: false sharing with pages of 64 KB, Hearth's own size" 300 sim_pages --csv "$out/pages.csv" --patterns false --page 64k --pool 1g
simulate flow_get "Flow control: the same with gets" 600 sim_flow --csv "$out/flow.csv" --gets 1 --schemes credits,intimation --cases one,eight
simulate flow_buffers "Flow control: 180 000 clients with 1 and 2 buffers each" 600 sim_flow --csv "$out/flow.csv" --clients 180k --buffers 2 --schemes credits,intimation --cases one,eight,all --all-operations 1
simulate flow_buffer "Flow control: the same with 1" 600 sim_flow --csv "$out/flow.csv" --clients 180k --buffers 1 --schemes credits,intimation --cases one,eight,all --all-operations 1
simulate paper "Flow control: what the paper says in words" 60 sim_flow --paper 1
simulate memory "Memory per rank" 120 sim_memory --csv "$out/memory.csv"
simulate memory_all "Memory per rank where all ranks communicate with all" 120 sim_memory --peers 0
plots
[ -s "$out/errors.log" ] || rm -f "$out/errors.log"
say "$failed failed: $out/results.md"
[ $failed = 0 ]
