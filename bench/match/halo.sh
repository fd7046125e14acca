#!/usr/bin/env bash
# Halo exchanges: the program halo with the MPI library's own matching and with Hearth's (Table 1, Figs. 9 and 10 of the paper on
# matching and hot caching).
#
#   halo.sh [--quick]      after `make bench-programs`; in about 15 minutes, with --quick in 1 to 2
#
# Two ranks on this machine, four on it, and four on two virtual hosts over TCP (where the system allows none, over TCP on this one),
# with each MPI that is built under build/ (or under BUILD). Three configurations take turns, so that a slow minute affects all alike:
#   host   the program alone
#   list   with Hearth, with queues that are lists like those of MPI libraries: shows the gain of its transports
#   fast   with Hearth's default queues: shows the additional gain of the queues. The paper's factors compare queues, as list and fast do
# and in the long run ucx: the program alone with Open MPI's pml ucx, which has queues with hash bins itself. Writes runs.csv and
# results.md to build/results/halo. A job that fails or takes too long is reported, and the rest continues. Needs two otherwise idle
# cores; with four ranks on them MPI libraries spend most of their time waiting for a core, whichever library matches.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
case "${1:-}" in '' | --quick) ;; --help) usage 0 ;; *) usage 2 ;; esac
[ -n "${CLUSTER_KIND:-}" ] || exec "$here/../test/cluster/hosts.sh" with 2 "${BASH_SOURCE[0]}" "$@"
bench_start halo ../bin/halo "openmpi mpich" "$@"
allow 700 60
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

describe_machine() {
    echo "- $(cores)"
    echo "- $(versions)"
    [ "$CLUSTER_KIND" = real ] || echo "- **no virtual hosts**: this system allows none; hosts.4 is four ranks over TCP on this one"
    echo "- load of the last minute at the start: $(busy)"
}

value() { # FIELD: of the last run
    sed -n "s/^ *\"$1\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/run.json" | head -n 1
}

# The search depth of messages, from the histogram of the report: bucket b holds depths from 2^(b-1) to 2^b and counts as its middle.
# Bucket 0 counts searches of an empty queue.
depth() {
    [ ! -e "$work/report.json" ] || awk '
        /"depth": *\[/ { inside = 1; bucket = 0; next }
        inside && /\]/ { inside = 0 }
        inside { n = $1 + 0; middle = bucket < 2 ? bucket : 0.75 * 2 ^ bucket; if (bucket++) { sum += n * middle; all += n } }
        END { if (all) printf "%.1f", sum / all }' "$work/report.json"
}

configure() { # MPI WHERE CONFIGURATION: options of launch.sh in `launch`
    local wire=()
    case $2,$3 in # Hearth yields its core by itself when it waits
    hosts,host | hosts,ucx) over_hosts "$1" ;;
    hosts,*) over_tcp "$1" ;;
    esac
    launch=(${wire[@]+"${wire[@]}"})
    [ "$2" != hosts ] || launch+=(--hosts 'n1,n2')
    case $1,$3 in
    openmpi,ucx) # by default Debian's Open MPI uses UCX only with network cards
        launch+=(--env OMPI_MCA_pml=ucx --env OMPI_MCA_opal_common_ucx_tls=any --env OMPI_MCA_opal_common_ucx_devices=any) ;;
    openmpi,*) launch+=(--env OMPI_MCA_pml=ob1) ;;
    esac
    case $3 in
    list | fast) launch+=(--preload "$build/$1/lib/libhearth-mpi.so" --env HEARTH_MATCH=on --env HEARTH_MATCH_QUEUE="$3") ;;
    esac
    [ "$3" != list ] || launch+=(--env HEARTH_REPORT="$work/report.json" --env HEARTH_RECORD=off)
}

# One run, one line: job SETTING ROUND CASE CONFIGURATION MODE [OPTION]...      SETTING: MPI.WHERE.RANKS
job() {
    local setting=$1 round=$2 case=$3 config=$4 mpi where ranks
    shift 4
    IFS=. read -r mpi where ranks <<<"$setting"
    configure "$mpi" "$where" "$config"
    rm -f "$work"/*.json
    # an MPICH that hangs in MPI_Finalize has delivered its results
    "$here/../test/launch.sh" "$mpi" "$ranks" "${launch[@]}" --timeout "$(pick 60 30)" "$build/$mpi/bin/halo" "$1" --quiet \
        --json "$work/run.json" "${@:2}" >>"$out/errors.log" 2>&1 || true
    if grep -qs '^}' "$work/run.json" && [ "$(value result)" = right ]; then
        echo "$setting,$round,$1,$case,$config,$(value us_step),$(value us_exchange),$(value us_post),$(value checksum),$(depth)" >>"$out/runs.csv"
    else
        fail "$setting, $config, $*; see $out/errors.log"
    fi
}

compare() { # SETTING ROUND CASE "CONFIGURATION..." MODE [OPTION]...
    local setting=$1 round=$2 case=$3 configs=$4 config
    shift 4
    ! over "$setting, $case" || return 0
    for config in $configs; do
        case $setting,$config in mpich*,ucx | *.hosts.*,ucx) continue ;; esac # MPICH always uses it
        job "$setting" "$round" "$case" "$config" "$@"
    done
}

# ---- the comparisons ----

fds() { # SETTING ROUND
    local steps
    steps=$(pick 6 3)
    compare "$1" "$2" '10x10x10 shuffled' "host list fast $(pick ucx '')" fds --steps "$steps"
    [ $quick = 0 ] || return 0
    compare "$1" "$2" '10x10x10 along' "host list fast" fds --steps "$steps" --numbering along
    compare "$1" "$2" '7x7x7 shuffled' "host list fast" fds --steps "$steps" --meshes 7x7x7
    compare "$1" "$2" '4x4x4 shuffled' "host list fast" fds --steps 20 --meshes 4x4x4
}

cg() { # SETTING ROUND
    local pad
    for pad in $(pick "0 512 2048 8192" 2048); do
        compare "$1" "$2" "pad $pad" "host list fast" cg --periodic --pad "$pad" --solves "$(pick 10 5)"
    done
}

blocks() {
    pick "32x32-5pt 64x32-5pt 32x32-9pt 64x32-9pt 8x8x4-7pt 1x1x128-7pt 1x1x256-7pt 8x8x4-27pt 1x1x128-27pt 1x1x256-27pt" "8x8x4-27pt"
}

stencil() { # SETTING ROUND
    local block
    for block in $(blocks); do
        compare "$1" "$2" "$block" "host list fast" stencil --block "${block%-*}" --stencil "${block#*-}" --steps "$(pick 20 10)"
    done
}

round() { # NUMBER
    local mpi place
    for mpi in "${mpis[@]}"; do
        for place in node.2 node.4 hosts.4; do
            fds "$mpi.$place" "$1"
        done
        for place in node.2 $(pick hosts.4 ''); do
            stencil "$mpi.$place" "$1"
        done
        [ $quick = 1 ] || cg "$mpi.hosts.4" "$1"
    done
}

# The solver's steps take less than a millisecond and its factors are near 1, so that it needs more rounds than the other programs.
solver() { # ROUND
    local mpi
    for mpi in "${mpis[@]}"; do
        cg "$mpi.node.2" "$1"
    done
}

say "${mpis[*]}; results in $out"
describe_machine >"$out/machine.md"
table runs setting,round,mode,case,config,us_step,us_exchange,us_post,checksum,depth
most=5
for n in $(seq "$most"); do
    [ "$n" = 1 ] || ! late 75 || break
    say "round $n of at most $most"
    round "$n"
done
for n in $(seq 9); do
    [ "$n" = 1 ] || ! late 100 || break
    say "conjugate gradients, round $n of at most 9"
    solver "$n"
done
echo "- load of the last minute at the end: $(busy); of which this bench is about 2 to 4" >>"$out/machine.md"
bench_report halo "$out" >"$out/results.md"
cat "$out/results.md"
finish reached '**lost**' && ! grep -q '^\*\*Results differ' "$out/results.md"
