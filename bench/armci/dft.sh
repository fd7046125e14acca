#!/usr/bin/env bash
# The exchange-correlation kernel (Sec. 5.1 of the paper on ARMCI with a helper thread; its Fig. 2, and Figs. 3, 5, 6 and 7, right
# halves): the program dft on Hearth's libarmci and on ARMCI-MPI, the library that it replaces.
#
#   dft.sh [--quick]      after `make bench-programs`; in about 8 minutes, with --quick in 1 to 2
#
# MPI.4 is four ranks on two virtual hosts over TCP (where the system allows none, on this one), MPI.2 two ranks, one on each: with each
# MPI that is built under build/ (or under BUILD). Configurations take turns until the intervals are within 5 % or the time is up:
#   stock     ARMCI-MPI: a rank serves others while it is in MPI itself
#   helper    libarmci: a thread of each host serves others while all ranks compute
#   rows, lists     the same without packing: a message for each row of a patch, or lists of rows (Fig. 3: the naive way)
#   rule, float     the helper moves by the paper's rule, or as the system schedules it (Fig. 5)
#   NxS             N buffers of S bytes for each rank, no credit pool (Fig. 6)
#   intimation, no-intimation     two buffers of 3 KB, with and without a credit pool of four buffers of 32 KB (Fig. 7)
# Tasks have 128 points, so that a rank computes for some 10 us between two messages, and in a second case 512. Writes runs.csv,
# sizes.csv and results.md to build/results/dft. A job that fails or takes too long is reported, and the rest continues.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 2 "${BASH_SOURCE[0]}" "$@"
bench_start dft ../bin/dft "openmpi mpich" "$@"
allow 480 90
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

describe_machine() {
    echo "- $(cores)"
    echo "- $(versions)"
    [ "$CLUSTER_KIND" = real ] || echo "- **no virtual hosts**: this system allows none; all ranks are on this one, and communicate over TCP"
    echo "- load of the last minute at the start: $(busy)"
}

buffers() { # COUNT SIZE INTIMATION SPARES
    launch+=(--env HEARTH_BUFFERS="$1" --env HEARTH_BUFFER_SIZE="$2" --env HEARTH_SIZE_HINT="$3" --env HEARTH_CREDIT_BUFFERS="$4"
        --env HEARTH_CREDIT_BUFFER_SIZE=32k)
}

# Sets how a configuration is launched: options of launch.sh in `launch`, the program in `program`.
configure() { # PART MPI RANKS CONFIGURATION
    local wire
    if [ "$1" = polls ]; then over_tcp "$2"; else over_hosts "$2"; fi
    shift
    launch=(--hosts 'n1,n2' ${wire[@]+"${wire[@]}"}) program=$build/$1/bin/dft
    # without virtual hosts libarmci itself emulates the nodes
    [ "$CLUSTER_KIND" = real ] || launch+=(--env HEARTH_NODE_RANKS=$(($2 / 2)))
    case $3 in
    stock)
        program=$build/$1/bench/dft_stock
        # windows that MPICH 4.0 allocates itself are incorrect between processes of one node
        [ "$1" != mpich ] || launch+=(--env ARMCI_USE_WIN_ALLOCATE=0)
        ;;
    rows | lists) launch+=(--env HEARTH_ARMCI_STRIDED="$3") ;;
    rule | float) launch+=(--env HEARTH_HELPER_AFFINITY="$3") ;;
    intimation) buffers 2 3k on 4 ;;
    no-intimation) buffers 2 3k off 4 ;;
    [0-9]*x*) buffers "${3%x*}" "${3#*x}" off 0 ;;
    esac
}

value() { # FIELD: of the last run
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/run.json" | head -n 1
}

each() { # SECONDS CALLS RANKS: microseconds of a call
    awk -v s="$1" -v n="$2" -v r="$3" 'BEGIN { printf "%.1f", n ? s * 1e6 * r / n : 0 }'
}

# One run, one line: job PART SETTING ROUND POINTS CONFIGURATION       SETTING: MPI.RANKS
job() {
    local part=$1 setting=$2 round=$3 points=$4 config=$5 mpi=${2%.*} ranks=${2#*.}
    ! over "$setting, $config, $points points" || return 0
    configure "$part" "$mpi" "$ranks" "$config"
    [ -x "$program" ] || return 0 # no ARMCI-MPI: reported at the start
    rm -f "$work/run.json"
    # a coarse, fast grid: its integral has few digits, and the messages are the same
    "$here/../test/launch.sh" "$mpi" "$ranks" "${launch[@]}" --timeout "$(time_left "$(pick 60 30)")" "$program" --atoms 6 --radial 20 \
        --angular 12 --tolerance 1e-3 --points "$points" --quiet --json "$work/run.json" >>"$out/errors.log" 2>&1 || true
    if ! grep -qs '^}' "$work/run.json"; then # an MPICH that hangs in MPI_Finalize has delivered its results
        fail "$setting, $config, $points points; see $out/errors.log"
        return 0
    fi
    echo "$part,$setting,$mpi,$ranks,$round,$points,$config,$(value seconds),$(value get),$(value acc),$(value read_inc),$(value compute),$(value wait),$(
        each "$(value get)" "$(value gets)" "$ranks"),$(each "$(value acc)" "$(value accs)" "$ranks"),$(
        each "$(value read_inc)" "$(value draws)" "$ranks"),$(value remote_gets),$(value gets),$(value norm)" >>"$out/runs.csv"
}

compare() { # PART SETTING ROUND POINTS CONFIGURATION...
    local part=$1 setting=$2 round=$3 points=$4 config
    shift 4
    for config; do job "$part" "$setting" "$round" "$points" "$config"; done
}

stock_round() { # ROUND
    local mpi
    for mpi in "${mpis[@]}"; do
        compare whole "$mpi.4" "$1" 128 stock helper
        compare whole "$mpi.2" "$1" 128 stock helper
        [ $quick = 1 ] || compare whole "$mpi.4" "$1" 512 stock helper
        # without yielding: ranks that wait keep their cores
        [ "$mpi" != mpich ] || [ "$1" -gt 3 ] || compare polls "$mpi.4" "$1" 128 stock helper
    done
}

figures_round() { # ROUND
    local mpi
    for mpi in $(pick "${mpis[*]}" "$first"); do
        compare figures "$mpi.4" "$1" 128 helper rows lists rule float 2x3k 2x4k 4x16k 4x128k intimation no-intimation
    done
}

# Fig. 2: the number of messages by size, from the last run. They depend neither on the library nor on the ranks.
sizes() {
    local call
    [ -e "$work/run.json" ] || return 0
    for call in get acc draw; do
        sed -n "s/^ *\"${call}_bins\": *\[\(.*\)\].*/\1/p" "$work/run.json" | tr ',' '\n' |
            awk -v call="${call/draw/read_inc}" '$1 > 0 { print call "," 2 ^ (NR - 1) "," $1 }' >>"$out/sizes.csv"
    done
}

say "${mpis[*]}; results in $out"
for mpi in "${mpis[@]}"; do
    [ -x "$build/$mpi/bench/dft_stock" ] || say "no ARMCI-MPI for $mpi (package libarmci-mpi-dev): nothing to compare with"
done
describe_machine >"$out/machine.md"
table runs part,setting,mpi,ranks,round,points,config,seconds,get,acc,read_inc,compute,wait,us_get,us_acc,us_read_inc,remote_gets,gets,norm
table sizes call,below,messages
alternate "ARMCI-MPI and libarmci" "$(pick 15 7)" 45 stock_round runs value=seconds keys=part,setting,points base=config=helper
sizes
alternate "the paper's figures" "$(pick 10 5)" 95 figures_round runs value=seconds keys=part,setting,points apart=config base=config=helper only=part=figures
echo "- load of the last minute at the end: $(busy); of which this bench is about 3 to 4" >>"$out/machine.md"
bench_report dft "$out" >"$out/results.md"
cat "$out/results.md"
finish && ! grep -q '^\*\*Results differ' "$out/results.md"
