#!/usr/bin/env bash
# The figures of the paper on ARMCI with a helper thread (Figs. 3, 5, 6, 7, left halves), and Hearth's own figures.
#
#   armci.sh [--quick]      after `make bench-programs`; in about 12 minutes, with --quick in about 2
#
# Two to four ranks on this machine, in one node or in two that share no core, with each MPI that is built under
# build/ (or under BUILD): libarmci, and ARMCI-MPI on the same MPI if it was installed at build time. Compared
# programs take turns. Writes one CSV per program, one plot per figure and results.md to build/results/armci. A job
# that fails or takes too long is reported, and the rest continues. Settings in the environment apply to all jobs
# (HEARTH_HELPER_SPIN_US=0 bench/armci/armci.sh). Needs two otherwise idle cores.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
bench_start armci armci_ops "mpich openmpi" "$@"
allow 1200 120

# ---- the machine ----

stock_version() {
    dpkg-query -W -f 'ARMCI-MPI ${Version}' libarmci-mpi-dev 2>/dev/null || echo "ARMCI-MPI, if it is installed"
}

describe_machine() {
    echo "- $(cores)"
    echo "- $(uname -sr); $("${CC:-cc}" --version | head -n 1); $(for mpi in "${mpis[@]}"; do version_of "$mpi"; done | paste -sd , - | sed 's/,/, /g'); $(stock_version)"
    echo "- load of the last minute at the start: $(busy)"
}

# ---- launching ----

# Sets how a configuration is launched: options of launch.sh in `launch`, the suffix of the program's name in `kind`.
configure() { # MPI CONFIGURATION RANKS-TO-A-NODE
    local wire
    launch=() kind=''
    case $2 in
    stock*)
        kind=_stock
        # windows that MPICH 4.0 allocates itself are incorrect between processes of one node
        [ "$1" != mpich ] || launch+=(--env ARMCI_USE_WIN_ALLOCATE=0)
        ;;
    node) ;;
    *) launch+=(--env HEARTH_NODE_RANKS="$3") ;;
    esac
    case $2 in
    stock-tcp)
        over_tcp "$1"
        launch+=(--tcp ${wire[@]+"${wire[@]}"})
        ;;
    mpi | *-mpi) launch+=(--env HEARTH_NET=mpi) ;;
    esac
    choose "$2"
}

# The settings of the figures. In figures that do not compare affinities, the helper stays on its rank's cores, which are its node's.
choose() { # CONFIGURATION
    case $1 in
    rows* | lists* | helper*) launch+=(--env HEARTH_ARMCI_STRIDED="${1%%-*}") ;;
    rule) launch+=(--env HEARTH_HELPER_AFFINITY=rule) ;;
    rule-often) launch+=(--env HEARTH_HELPER_AFFINITY=rule --env HEARTH_HELPER_THRESHOLD=1e7) ;;
    float) launch+=(--env HEARTH_HELPER_AFFINITY=float) ;;
    intimation) buffers 2 3k on 4 ;;
    no-intimation) buffers 2 3k off 4 ;;
    [0-9]*x*) buffers "${1%x*}" "${1#*x}" off 0 ;;
    esac
    case $1 in
    stock* | node | rule* | float | all) ;;
    *) launch+=(--env HEARTH_HELPER_AFFINITY=stay) ;;
    esac
}

buffers() { # COUNT SIZE INTIMATION SPARES
    launch+=(--env HEARTH_BUFFERS="$1" --env HEARTH_BUFFER_SIZE="$2" --env HEARTH_SIZE_HINT="$3" --env HEARTH_CREDIT_BUFFERS="$4"
        --env HEARTH_CREDIT_BUFFER_SIZE=32k)
}

# Runs a program and keeps its lines: job TABLE PREFIX MPI CONFIGURATION RANKS NODE PROGRAM [ARG]...   NODE: ranks of the first node
job() {
    local file=$1 prefix=$2 mpi=$3 config=$4 ranks=$5 node=$6 program=$7 name
    shift 7
    ! over "$program, $prefix" || return 0
    configure "$mpi" "$config" "$node"
    name=$build/$mpi/bench/$program$kind
    [ -x "$name" ] || return 0 # no ARMCI-MPI: reported at the start
    [ "$program" = armci_link ] || set -- "$@" --node "$node"
    "$here/../test/launch.sh" "$mpi" "$ranks" "${launch[@]}" --timeout 40 "$name" "$@" 2>>"$out/errors.log" >"$out/job.tmp" ||
        fail "$program$kind, exit status $?, $mpi, $config, $ranks ranks, $*"
    sed "s|^|$prefix,|" "$out/job.tmp" >>"$out/$file.csv"
    rm -f "$out/job.tmp"
}

# ---- single operations ----

near_ops=get:8,put:8,put+:8,acc:8,acc+:8,rmw:8,lock:8,get:64k/8,put:64k/8,put+:64k/8,acc:64k/8,acc+:64k/8,get:1m,memcpy:1m
far_ops=get:8,put+:8,acc+:8,rmw:8,lock:8,get:64k/8,put+:64k/8,acc+:64k/8

ops_round() { # ROUND
    local mpi ms config
    ms=$(pick 600 200)
    for mpi in "${mpis[@]}"; do
        for config in node stock; do
            job ops "near,$mpi,$config,$1" "$mpi" $config 2 1 armci_ops --bind --ops $near_ops --milliseconds "$ms"
        done
        for config in ucx mpi; do
            job link "$mpi,$config,$1" "$mpi" $config 2 1 armci_link --bind --net $config --rest sleep --trips 8 --streams 64k --milliseconds "$(pick 200 60)"
            job ops "far,$mpi,$config,$1" "$mpi" $config 2 1 armci_ops --bind --rest sleep --ops $far_ops --milliseconds "$ms"
            job patch "rate,$mpi,$config,$1" "$mpi" $config 2 1 armci_patch --bind --rest sleep --row whole --sizes 64k --kinds get,acc,put --milliseconds "$(pick 100 50)"
        done
        job ops "far,$mpi,stock-tcp,$1" "$mpi" stock-tcp 2 1 armci_ops --bind --ops $far_ops --milliseconds "$ms"
        job patch "rate,$mpi,stock-tcp,$1" "$mpi" stock-tcp 2 1 armci_patch --bind --row whole --sizes 64k --kinds get,acc,put --milliseconds "$(pick 100 50)"
    done
}

# ---- the paper's figures ----

# Two nodes; with few cores one rank each, so that the measuring rank has a core. All ranks but rank 0 compute; those
# of ARMCI-MPI wait in MPI, as they make no progress otherwise.
ranks=2
[ "$(nproc)" -lt 4 ] || ranks=4
sizes=$(pick 8,16,32,64,128,256,512,1k,2k,4k,8k,16k,32k,64k,128k 8,512,4k,64k,128k)

patches() { # FIGURE ROUND MPI CONFIGURATION RANKS NODE [ARG]...
    local figure=$1 round=$2 mpi=$3 config=$4 ranks=$5 node=$6 rest=compute
    shift 6
    case $config in stock*) rest="wait" ;; esac
    job patch "$figure,$mpi,$config,$round" "$mpi" "$config" "$ranks" "$node" armci_patch --rest $rest --sizes "$sizes" \
        --milliseconds "$(pick 25 12)" "$@"
}

figure_mpis=$(pick "${mpis[*]}" "$first")
ways="rows lists helper helper-mpi"
[ ! -x "$build/$first/bench/armci_patch_stock" ] || ways+=" stock-tcp"
buffers=$(pick "2x3k 2x4k 2x16k 4x16k 4x128k" "2x4k 4x16k 4x128k")

figures_round() { # ROUND
    local mpi config
    for mpi in $figure_mpis; do
        for config in $ways; do
            patches fig3 "$1" "$mpi" "$config" $ranks $((ranks / 2)) --bind
        done
        for config in rule rule-often float; do
            patches fig5 "$1" "$mpi" $config $ranks $((ranks / 2))
        done
        for config in $buffers; do
            patches fig6 "$1" "$mpi" "$config" $ranks $((ranks / 2)) --bind
        done
        for config in intimation no-intimation 4x32k 4x128k; do
            sizes=$sizes,1m patches fig7 "$1" "$mpi" $config 3 2 --bind --clients 1
            patches fig7 "$1" "$mpi" $config 3 2 --bind --clients 2
        done
        [ $quick = 1 ] || [ $ranks = 4 ] || for config in rows lists helper; do # the paper's number of ranks, which there have a core each
            patches fig3-4 "$1" "$mpi" $config 4 2 --bind
        done
    done
}

# ---- computing targets ----

busy_round() { # ROUND
    local mpi config count
    count=$(pick 4 1)
    for mpi in "${mpis[@]}"; do
        job busy "node,$mpi,node,$1" "$mpi" node 2 1 armci_busy --rounds "$count"
        job busy "node,$mpi,stock,$1" "$mpi" stock 2 1 armci_busy --rounds 1 --pauses 0
        for config in ucx mpi; do # the target's node has cores of its own; in `all` and `nice` the origin's cores compute too
            job busy "nodes,$mpi,$config,$1" "$mpi" $config 2 1 armci_busy --bind --rounds "$count"
        done
        job busy "all,$mpi,ucx,$1" "$mpi" all 2 1 armci_busy --rounds "$count"
        [ $quick = 1 ] || job busy "nice,$mpi,ucx,$1" "$mpi" all 2 1 armci_busy --rounds "$count" --priority 19
        job busy "nodes,$mpi,stock-tcp,$1" "$mpi" stock-tcp 2 1 armci_busy --bind --rounds 1 --pauses 0
    done
}

# ---- a shared counter ----

counter_round() { # ROUND
    local mpi count ms
    ms=$(pick 200 100)
    for mpi in "${mpis[@]}"; do
        for count in 2 4; do
            job counter "node,$mpi,node,$1" "$mpi" node $count 1 armci_counter --milliseconds "$ms"
            job counter "node,$mpi,stock,$1" "$mpi" stock $count 1 armci_counter --milliseconds "$ms"
            job counter "nodes,$mpi,ucx,$1" "$mpi" all $count $((count / 2)) armci_counter --milliseconds "$ms"
            job counter "nodes,$mpi,stock-tcp,$1" "$mpi" stock-tcp $count $((count / 2)) armci_counter --milliseconds "$ms"
        done
    done
}

# ---- allocation ----

malloc_round() { # ROUND
    local mpi config
    for mpi in "${mpis[@]}"; do
        for config in node stock; do
            job malloc "$mpi,$config,$1" "$mpi" $config 2 1 armci_malloc --sizes "$(pick 4k,64k,1m,8m,64m 4k,8m,64m)" --milliseconds "$(pick 1500 500)"
        done
    done
}

say "two to four ranks on this machine, ${mpis[*]}, results in $out"
for mpi in "${mpis[@]}"; do
    [ -x "$build/$mpi/bench/armci_ops_stock" ] || say "no ARMCI-MPI for $mpi (package libarmci-mpi-dev): nothing to compare with"
done
describe_machine >"$out/machine.md"
table ops where,mpi,config,round,op,bytes,row,samples,ns,low,high,p99
table link mpi,net,round,what,bytes,window,samples,us,low,high,p99,mbps
table patch figure,mpi,config,round,kind,bytes,row,clients,targets,batches,mbps,us
table busy where,mpi,config,round,op,bytes,pause_us,samples,us,p99,most
table malloc mpi,config,round,who,filled,bytes,samples,ns,low,high
table counter where,mpi,config,round,ranks,numbers,seconds,rate,first_us,last_us
# The figures have no common base for ratios, so the stopping rule uses the rates themselves.
alternate "the paper's figures" "$(pick 7 2)" 55 figures_round patch value=mbps keys=figure,mpi,config,kind,bytes,clients
alternate "single operations, and the network alone" "$(pick 7 3)" 75 ops_round ops value=ns keys=where,mpi,config,op,bytes,row
alternate "a counter for all" "$(pick 5 2)" 80 counter_round counter value=rate keys=where,mpi,config,ranks
alternate "allocating" "$(pick 5 3)" 85 malloc_round malloc value=ns keys=mpi,config,who,filled,bytes
alternate "targets that compute" "$(pick 3 1)" 100 busy_round busy value=us keys=where,mpi,config,op,bytes,pause_us # the longest round
echo "- load of the last minute at the end: $(busy); of which this bench is about 2 to 3" >>"$out/machine.md"
plots mpi="$first" ways="$ways" buffers="$buffers"
bench_report armci "$out" quick=$quick mpis="${mpis[*]}" >"$out/results.md"
sed '/^## The tables/,$d' "$out/results.md"
finish reached '**lost**'
