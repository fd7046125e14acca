#!/usr/bin/env bash
# The figures of the vGASNet paper (Figs. 7 to 10), Hearth's own figures, and the best page size on this machine.
#
#   vgasnet.sh [--quick]      after `make bench-programs`; in about 12 minutes, with --quick in about 2
#
# Two to four ranks, each on a virtual host of its own; where the system allows none, each an emulated node on this host. The NVM is a
# folder of this machine's disk, throttled or not (HEARTH_NVM_THROTTLE): to 450 MB/s, about the rate of the paper's disks, and to a
# fifteenth (NETWORK_TO_NVM=15) of the network's rate here when all nodes get from one by plain GASNet, as in Fig. 8: about the paper's
# ratio of disk to network. (Two nodes alone would be faster; but four share these cores, and the paper's had their own.)
#
# Compared configurations take turns. Uses the programs under build/ (or under BUILD), of one MPI: all measured traffic goes through
# Hearth's own network. Writes one CSV per program, one plot per figure and results.md to build/results/vgasnet. A job that fails or
# takes too long is reported, and the rest continues. Settings in the environment apply to all jobs. Needs an otherwise idle machine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 4 "${BASH_SOURCE[0]}" "$@"
bench_start vgasnet vgasnet_hit "openmpi mpich" "$@"
allow 1000 150
nvm=$out/nvm pool=32
network_to_nvm=${NETWORK_TO_NVM:-15}
trap 'rm -rf "$nvm"' EXIT

# ---- the machine ----

describe_hosts() {
    if [ "$CLUSTER_KIND" = real ]; then
        echo "- each rank on a virtual host of its own (network namespaces joined by a bridge), which all share the cores above"
    else
        echo "- **no virtual hosts**: this system allows none. Each rank is a node of its own on one host (HEARTH_NODE_RANKS=1), over the loopback device"
    fi
}

describe_machine() {
    echo "- $(cores), $(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)"
    echo "- $(versions)"
    describe_hosts
    echo "- NVM: a folder on $(df --output=source,fstype "$out" | tail -n 1 | tr -s ' ' | sed 's/ /, /')"
    echo "- load of the last minute at the start: $(busy)"
}

# ---- launching ----

# Runs a program and keeps its lines: job TABLE PREFIX RANKS [K=V]... -- PROGRAM [ARG]...
job() {
    local file=$1 prefix=$2 ranks=$3 options=() settings wire
    shift 3
    while [ "$1" != -- ]; do
        options+=(--env "$1")
        shift
    done
    shift
    settings=${options[*]//--env/}
    ! over "$1, $prefix" || return 0
    if [ "$CLUSTER_KIND" = real ]; then
        options+=(--hosts "$(seq -s , -f n%g "$ranks")")
    else
        options+=(--env HEARTH_NODE_RANKS=1)
    fi
    over_tcp "$first"
    options+=(${wire[@]+"${wire[@]}"})
    mkdir -p "$nvm"
    "$here/../test/launch.sh" "$first" "$ranks" --env HEARTH_NVM_DIR="$nvm" --env HEARTH_NVM_NAME=bench "${options[@]}" --timeout 40 \
        "$build/$first/bench/$1" "${@:2}" 2>>"$out/errors.log" >"$out/job.tmp" || fail "$*, exit status $?,$settings, $ranks ranks"
    sed -n "s|^[a-z0-9+]*,.*|$prefix,&|p" "$out/job.tmp" >>"$out/$file.csv"
    rm -rf "$out/job.tmp" "$nvm"
}

rounds() { # WHAT COUNT FUNCTION: rounds of configurations that take turns
    local round
    for round in $(seq "$2"); do
        [ "$round" = 1 ] || ! late 100 || break
        say "$1, round $round of $2"
        "$3" "$round"
    done
}

# Bytes per second of the emulated NVM: none, 450m, or paper (a fraction of the network's rate, measured before).
rate_of() {
    case $1 in
    none) echo 0 ;;
    paper) echo "$paper_rate" ;;
    *) echo "$1" ;;
    esac
}

pool_for() { # PAGE: for Fig. 7; it holds all three cases
    case $1 in
    4k) echo 4m ;;
    16k) echo 16m ;;
    64k) echo 32m ;;
    256k) echo 96m ;;
    1m) echo 128m ;;
    4m) echo 256m ;;
    esac
}

pieces_for() { # PAGE
    case $1 in
    1m) pick 24 12 ;;
    4m) pick 12 8 ;;
    *) pick 64 32 ;;
    esac
}

# ---- the network alone, hits, small operations ----

# The nodes of these benches outnumber the cores, so a waiting rank sleeps at once. Two nodes that are bound to a core each can spin,
# which makes a round trip faster: that is measured too. The pages of Fig. 7 are sent from as much memory as `spread` has.
sleeping=(--net ucx --rest sleep --spin 0 --helper-spin 0)

single_round() { # ROUND
    local ms window
    ms=$(pick 300 150)
    for window in 1 4; do
        job link "sleep,$1" 2 -- armci_link "${sleeping[@]}" --trips 8 --streams 64k,1m --window $window --milliseconds "$ms"
        job link "spread,$1" 2 -- armci_link "${sleeping[@]}" --trips 8 --streams 1m --window $window --spread "$(pieces_for 1m)m" \
            --milliseconds "$ms"
    done
    job link "bound,$1" 2 -- armci_link --net ucx --rest sleep --bind --trips 8 --streams 64k --window 1 --milliseconds "$ms"
    job hit "$1" 2 HEARTH_POOL_SIZE=64m -- vgasnet_hit --sizes "$(pick 8,64,512,4k,16k,32k,64k 8,512,4k,64k)" --samples "$(pick 2000 500)"
    job small "pages,$1" 3 HEARTH_POOL_SIZE=256m -- vgasnet_small --pages "$(pick 200 100)"
    job small "plain,$1" 3 HEARTH_NVM=off -- vgasnet_small --pages "$(pick 200 100)"
    job walk "fig,plain,none,${pool}m,$1" 4 HEARTH_NVM=off -- vgasnet_walk --order sequence --bytes $((pool * 2))m --passes 3
}

measure_network() { # sets paper_rate
    rounds "the network alone, hits, small operations" "$(pick 5 2)" single_round
    paper_rate=$(bench_report nvm-rate "$out" share="$network_to_nvm")
    say "the NVM is throttled to $paper_rate bytes/s: 1/$network_to_nvm of the network's rate when all nodes get from one, the ratio of the paper"
}

# ---- Fig. 7 ----

fetch_round() { # ROUND
    local page config
    for page in $(pick "4k 16k 64k 256k 1m 4m" "64k 1m"); do
        # In a quick run, without a limit of the NVM only what a goal needs.
        for config in $([ $quick,$page = 1,64k ] || echo none) paper; do
            job fetch "$config,$1" 3 HEARTH_PAGE_SIZE=$page HEARTH_POOL_SIZE="$(pool_for $page)" HEARTH_PAGES_AHEAD=0 HEARTH_REMOTE_OP_MAX=0 \
                HEARTH_NVM_THROTTLE="$(rate_of $config)" -- vgasnet_fetch --page $page --pieces "$(pieces_for $page)" --warm "$(pool_for $page)"
        done
        job fetch "plain,$1" 3 HEARTH_NVM=off -- vgasnet_fetch --page $page --pieces "$(pieces_for $page)"
    done
    for page in 64k 1m; do
        job fetch "none,$1" 3 HEARTH_PAGE_SIZE=$page HEARTH_POOL_SIZE=128m -- vgasnet_fetch --page $page --piece 1m --pieces "$(pick 40 24)" --warm 128m --row
    done
    job fetch "none,$1" 3 HEARTH_PAGE_SIZE=64k HEARTH_POOL_SIZE=128m -- vgasnet_fetch --page 64k --piece 1m --pieces "$(pieces_for 1m)" --warm 128m
}

# ---- Figs. 8 and 9 ----

walk() { # ORDER MB NVM COOP ROUND
    job walk "fig,$4,$3,${pool}m,$5" 4 HEARTH_COOP="$4" HEARTH_POOL_SIZE=${pool}m HEARTH_NVM_THROTTLE="$(rate_of "$3")" -- \
        vgasnet_walk --order "$1" --bytes "$2m" --passes 3 --seed "$5"
}

walks_round() { # ROUND
    local data rate
    for data in $((pool / 2)) $((pool * 2)) $((pool * 7 / 2)); do
        for rate in $(pick "none 450m paper" "450m paper"); do
            walk sequence $data "$rate" 1 "$1"
            walk sequence $data "$rate" 0 "$1"
        done
        for rate in $(pick "none paper" paper); do
            [ $quick = 0 ] || [ $data = $((pool * 2)) ] || continue
            walk shuffle $data "$rate" 1 "$1"
            walk shuffle $data "$rate" 0 "$1"
        done
    done
}

# ---- Fig. 10 ----

share_round() { # ROUND
    local page rate where coop count
    count=$(pick 300 100)
    for page in 64k 4m; do
        for rate in $(pick "none 450m paper" "450m paper"); do
            for where in nvm dram; do
                [ $quick = 0 ] || [ $page = 64k ] || [ $rate = paper ] || continue
                for coop in 1 0; do
                    job share "pages,$coop,0,$where,$rate,$page,$1" 4 HEARTH_COOP=$coop HEARTH_REMOTE_OP_MAX=0 HEARTH_WRITE_BACK=$where HEARTH_PAGE_SIZE=$page \
                        HEARTH_NVM_THROTTLE="$(rate_of $rate)" -- vgasnet_share --page $page --rounds "$count" --milliseconds "$(pick 3000 1500)"
                done
            done
        done
    done
    job share "pages,1,1k,nvm,paper,64k,$1" 4 HEARTH_NVM_THROTTLE="$paper_rate" -- vgasnet_share --rounds "$count"
    job share "plain,-,-,-,none,64k,$1" 4 HEARTH_NVM=off -- vgasnet_share --rounds "$count"
    job share "plain,-,-,-,none,64k,$1" 4 HEARTH_NVM=off -- vgasnet_share --rounds "$count" --way message
    job share "pages,1,1k,nvm,paper,64k,$1" 4 HEARTH_NVM_THROTTLE="$paper_rate" -- vgasnet_share --free --milliseconds 300
    job share "plain,-,-,-,none,64k,$1" 4 HEARTH_NVM=off -- vgasnet_share --free --milliseconds 300
}

# ---- the page size ----

sweep_round() { # ROUND
    local page
    for page in $(pick "4k 16k 64k 256k 1m 4m" "16k 64k 256k 1m"); do
        set -- "$1" HEARTH_PAGE_SIZE=$page HEARTH_POOL_SIZE=64m HEARTH_NVM_THROTTLE=450m -- vgasnet_walk --page $page --bytes "$(pick 128m 96m)"
        job walk "sweep,1,450m,64m,$1" 4 "${@:2}" --order sequence --piece 64k --passes 2
        job walk "sweep,1,450m,64m,$1" 4 "${@:2}" --order random --piece 64k --gets "$(pick 1000 400)" --passes 2 --seed "$1"
        job walk "sweep,1,450m,64m,$1" 4 "${@:2}" --order random --piece 8 --gets "$(pick 3000 1000)" --passes 2 --seed "$1"
    done
}

figures_round() { # ROUND
    say "Fig. 7: fetching pages"
    fetch_round "$1"
    say "Fig. 10: false sharing"
    share_round "$1"
    say "Figs. 8, 9: all nodes get one segment"
    walks_round "$1"
    say "the page size"
    sweep_round "$1"
}

say "two to four ranks on $([ "$CLUSTER_KIND" = real ] && echo "virtual hosts" || echo "one host: no virtual hosts here"), $first, results in $out"
describe_machine >"$out/machine.md"
counts=hits,misses,smalls,from_nvm,from_home,from_peers,nvm_reads,evicted,messages
table link config,round,what,bytes,window,samples,us,low,high,p99,mbps
table hit round,op,page,bytes,samples,ns,low,high
table small config,round,op,where,page,samples,us,low,high
table fetch config,round,case,page,piece,row,samples,us,low,high,mbps
table walk what,coop,nvm,pool,round,order,page,piece,bytes,ranks,pass,mbps,us,$counts
table share config,coop,small,write_back,nvm,page,round,way,free,ranks,samples,us,low,high,puts,hits,smalls,from_peers,from_home,nvm_reads,nvm_writes,messages
measure_network
rounds "the paper's figures, and the page size" "$(pick 3 1)" figures_round
echo "- load of the last minute at the end: $(busy); of which this bench is about 2 to 4" >>"$out/machine.md"
plots rates="$(pick "none 450m paper" paper)"
bench_report vgasnet "$out" quick=$quick pool=$((pool << 20)) paper_rate="$paper_rate" share="$network_to_nvm" >"$out/results.md"
sed '/^## The tables/,$d' "$out/results.md"
finish reached '**lost**'
