#!/usr/bin/env bash
# The figures of the paper on matching and hot caching (Figs. 1 and 4 to 7, Sec. 4.3, Table 1), and Hearth's own figures.
#
#   match.sh [--quick]      after `make bench-programs`; in about 13 minutes, with --quick in 1 to 3
#
# The engine alone, then through MPI on two ranks of this machine, with each MPI that is built under build/ (or under BUILD): the host's
# own matching, and the library preloaded with each structure of its queues. Writes one CSV and one plot per figure and results.md to
# build/results/match. A job that fails or takes too long is reported, and the rest continues. Needs two otherwise idle cores.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start match match_mpi "openmpi mpich" "$@"
allow 1080 150

# ---- the machine ----

field() { # NAME: of lscpu
    LC_ALL=C lscpu | sed -n "s/^$1: *//p" | head -n 1
}

caches() { # of the first core: "L1 64K (cores 0), L2 ..."
    local c
    for c in /sys/devices/system/cpu/cpu0/cache/index*; do
        [ "$(cat "$c/type")" = Instruction ] ||
            printf '%sL%s %s (cores %s)' "${sep:-}" "$(cat "$c/level")" "$(cat "$c/size")" "$(cat "$c/shared_cpu_list")"
        sep=', '
    done
}

describe_machine() {
    echo "- $(nproc) of $(getconf _NPROCESSORS_CONF) cores, $(field 'Model name') ($(uname -m)); caches: $(caches)"
    echo "- $(uname -sr); $("${CC:-cc}" --version | head -n 1); $(for mpi in "${mpis[@]}"; do version_of "$mpi"; done | paste -sd , - | sed 's/,/, /g')"
    echo "- load of the last minute at the start: $(busy)"
}

# ---- without MPI ----

run_alone() { # TABLE PREFIX PROGRAM [ARG]...: with the heater on, whether or not it is used
    local file=$1 prefix=$2 program=$3
    shift 3
    ! over "$program $*" || return 0
    HEARTH_HEATER=on timeout -k 5 240 "$build/$first/bench/$program" "$@" 2>>"$out/errors.log" >"$out/job.tmp" ||
        fail "$program, exit status $?, $*"
    sed "s|^|$prefix|" "$out/job.tmp" >>"$out/$file.csv"
    rm -f "$out/job.tmp"
}

engine() {
    local depths sizes rounds seconds
    depths=$(pick 0,1,4,16,64,256,1024,4096,16384 0,16,256,1024,16384)
    sizes=$(pick 1,16,64,256,1k,4k,16k,64k,256k,1m 1,4k,64k,1m)
    rounds=$(pick 5 4)
    seconds=$(pick 60 20)
    [ $((allowed / 10)) -gt "$seconds" ] || seconds=$((allowed / 10)) # there are four of them
    table engine kind,queue,structure,heated,bytes,depth,state,gap_us,heater,samples,ns,low,high
    say "the engine alone: rate by depth"
    run_alone engine rate, match_engine --depths "$depths" --sizes "$(pick 1,4k 1)" --rounds "$rounds" --seconds "$seconds"
    say "the engine alone: rate by depth, beside the heater"
    run_alone engine rate, match_engine --depths "$depths" --sizes "$(pick 1,4k 1)" --gaps 0,10,100,1000 --heated 1 \
        --rounds "$rounds" --seconds "$seconds"
    say "the engine alone: a heated list, at once after the caches were emptied"
    run_alone engine once, match_engine --queues posted --structures list --depths "$depths" --sizes 1 --gaps 0 --heated 1 \
        --rounds 100 --seconds "$(pick 15 5)" # of a few cache misses many samples are needed
    say "the engine alone: bandwidth by size, 1024 entries in front"
    run_alone engine bandwidth, match_engine --queues posted --depths 1024 --sizes "$sizes" --rounds "$rounds" --seconds "$seconds"
    run_alone engine bandwidth, match_engine --queues posted --depths 1024 --sizes "$sizes" --gaps 100 --heated 1 \
        --rounds "$rounds" --seconds "$seconds"
}

heater() {
    table random accesses,bytes,state,gap_us,heater,samples,ns,low,high
    table cost kernel,bytes,samples,ratio,low,high,with_ns,without_ns
    say "the heater: random accesses"
    run_alone random '' match_random --samples "$(pick 40 10)" --bytes "$(pick 64k,256k,1m,4m 64k,1m)"
    say "the heater: its cost for a computing thread"
    run_alone cost '' match_cost --samples "$(pick 100 20)"
}

stencil() {
    table stencil block,stencil,receivers,senders,length,trials,depth,least,most,paper_receivers,paper_senders,paper_length,paper_depth
    say "Table 1: decompositions"
    run_alone stencil '' match_stencil --trials 10
}

# ---- queue lengths ----

# Fig. 1: three kinds of halo exchange, with Hearth's queues, which count. These are counts, so one MPI suffices.
lengths() {
    local mode options
    table lengths program,below,arrivals
    table longest program,posted_most,unexpected_most
    [ -x "$build/$first/bin/halo" ] || { say "no program halo: no queue lengths" && return 0; }
    for mode in cg fds stencil; do
        say "Fig. 1: queue lengths, halo $mode"
        ! over "lengths of queues, $mode" || return 0
        rm -f "$out/report.json"
        "$here/../test/launch.sh" "$first" 4 --preload "$build/$first/lib/libhearth-mpi.so" --env HEARTH_MATCH=on \
            --env HEARTH_REPORT="$out/report.json" --timeout 60 "$build/$first/bin/halo" $mode >>"$out/errors.log" 2>&1 || fail "halo $mode"
        [ ! -s "$out/report.json" ] || lengths_of $mode
    done
    rm -f "$out/report.json"
}

lengths_of() { # PROGRAM: bucket b of the histogram counts lengths below 2^b; all ranks together
    tr -d ' \n' <"$out/report.json" | grep -o '"posted_length":\[[0-9,]*\]' | sed 's/.*\[//; s/\]//' |
        awk -F, -v p="$1" '{ for (b = 1; b <= NF; b++) n[b] += $b; if (NF > most) most = NF } END { for (b = 1; b <= most; b++) if (n[b]) print p "," 2 ^ (b - 1) "," n[b] }' >>"$out/lengths.csv"
    tr ',{}' '\n' <"$out/report.json" | awk -F: -v p="$1" '/"(posted|unexpected)_most"/ { gsub(/[ "]/, ""); if ($2 + 0 > most[$1]) most[$1] = $2 + 0 }
        END { print p "," most["posted_most"] + 0 "," most["unexpected_most"] + 0 }' >>"$out/longest.csv"
}

# ---- through MPI ----

# Sets how a configuration is launched: options of launch.sh in `launch`, of the program in `order`.
configure() { # MPI CONFIGURATION
    local lib=$build/$1/lib/libhearth-mpi.so
    launch=() order=()
    case $2 in *-tcp) launch+=(--tcp) ;; esac
    case $1,$2 in
    openmpi,*-ucx) # by default Debian's Open MPI uses UCX only with network cards
        launch+=(--env OMPI_MCA_pml=ucx --env OMPI_MCA_opal_common_ucx_tls=any --env OMPI_MCA_opal_common_ucx_devices=any) ;;
    openmpi,*) launch+=(--env OMPI_MCA_pml=ob1) ;;
    esac
    case $2 in *-random) order=(--order random) ;; esac
    case $2 in
    host*) return ;;
    esac
    order+=(--library 1)
    case $2 in
    over-*) launch+=(--preload "$lib" --env HEARTH_MATCH=on --env HEARTH_MATCH_NODE=off) ;;
    *) launch+=(--preload "$lib" --env HEARTH_MATCH=on --env HEARTH_MATCH_QUEUE="${2%-random}") ;;
    esac
}

# Runs match_mpi and keeps its lines: job MPI CONFIGURATION ROUND HEATER [ARG]...   HEATER: on; or off: the queues are not registered
# with the heater, and nodes of lists come from malloc
job() {
    local mpi=$1 config=$2 round=$3 heater=$4 kind=$5
    shift 5
    ! over "match_mpi, $mpi, $config, $kind" || return 0
    configure "$mpi" "$config"
    if [ "$heater" = on ]; then
        launch+=(--env HEARTH_HEATER=on)
        order+=(--heater 1)
    else
        launch+=(--env HEARTH_HEATER=off --env HEARTH_MATCH_HEATED=off)
    fi
    "$here/../test/launch.sh" "$mpi" 2 "${launch[@]}" --timeout 90 "$build/$mpi/bench/match_mpi" "${order[@]}" "$@" \
        2>>"$out/errors.log" >"$out/job.tmp" || fail "match_mpi, exit status $?, $mpi, $config, $*"
    sed "s|^|$kind,$mpi,$config,$round,|" "$out/job.tmp" >>"$out/mpi.csv"
    rm -f "$out/job.tmp"
}

each() { # WHAT ROUNDS CONFIGURATIONS HEATER KIND [ARG]...: all configurations of all MPIs in turn, then again
    local what=$1 rounds=$2 configs=$3 round mpi config
    shift 3
    for round in $(seq "$rounds"); do
        [ "$round" = 1 ] || ! late 90 || break
        for mpi in "${mpis[@]}"; do
            say "$what: $mpi, round $round of $rounds"
            for config in $configs; do
                case $mpi,$config in mpich,*-ucx) continue ;; esac # MPICH always uses it
                job "$mpi" "$config" "$round" "$@"
            done
        done
    done
}

structures=$(pick "list lla-2 lla-4 lla-8 lla-16 lla-32 lla-64 fast" "list lla-8 fast")

through_mpi() {
    local depths sizes
    depths=$(pick 0,1,4,16,64,256,1024,4096,16384 0,16,256,1024,16384)
    sizes=$(pick 1,16,64,256,1k,4k,16k,64k,256k,1m 1,4k,64k,1m)
    table mpi kind,mpi,config,round,queue,order,bytes,depth,state,gap_us,heater,samples,ns,low,high
    each "short queues, by size" "$(pick 7 5)" "host fast over-host" off size --queues posted --states warm --depths 0 \
        --sizes 1,8,64,512,4k,16k,64k --milliseconds 60
    each "1024 in front" "$(pick 5 4)" "host fast over-host" off size --queues posted --states warm --depths 1024 --sizes 1 \
        --milliseconds 100
    each "bandwidth by size, 1024 in front" "$(pick 2 1)" "host $structures" off bandwidth --queues posted --states warm \
        --depths 1024 --sizes "$sizes" --milliseconds "$(pick 80 30)"
    each "rate by depth" "$(pick 2 1)" "host $structures" off rate --states warm --depths "$depths" --sizes "$(pick 1,4k 1)" \
        --milliseconds "$(pick 80 30)"
    each "random order" 1 "host-random list-random" off rate --states warm --depths "$(pick 64,256,1024 1024)" --sizes 1 \
        --milliseconds "$(pick 80 30)"
    each "other ways" "$(pick 2 1)" "host-tcp over-tcp host-ucx over-ucx" off rate --queues posted --states warm \
        --depths "$(pick 0,64,1024 0,1024)" --sizes "$(pick 1,4k 1)" --milliseconds "$(pick 100 50)"
    each "cold" 1 "host" off cold --states cold --depths "$(pick 0,64,1024,16384 1024)" --sizes 1 \
        --milliseconds "$(pick 120 60)"
    each "cold, beside the heater" 1 "$(pick "list list-random lla-2 lla-8 lla-64 fast" "list-random lla-8 fast")" on cold \
        --states cold --depths "$(pick 0,64,1024,16384 1024)" --sizes 1 --gaps "$(pick 0,10,100,1000 0,100)" \
        --milliseconds "$(pick 80 60)"
    [ $quick = 1 ] || each "cold bandwidth" 1 "list lla-8 fast" on cold-bandwidth --queues posted --states cold --depths 1024 \
        --sizes 1,256,4k,64k --gaps 100 --milliseconds 100
}

say "two ranks on this machine, ${mpis[*]}, results in $out"
describe_machine >"$out/machine.md"
engine
heater
stencil
lengths
through_mpi
echo "- load of the last minute at the end: $(busy); of which this bench is about 2 while it uses MPI" >>"$out/machine.md"
plots mpi="$first" configs="host $structures" sizes="$(pick '1 4096' 1)"
bench_report match "$out" quick=$quick mpis="${mpis[*]}" >"$out/results.md"
sed '/^## The tables/,$d' "$out/results.md"
finish reached '**lost**'
