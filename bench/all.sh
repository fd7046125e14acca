#!/usr/bin/env bash
# Runs all benches, one after the other, and writes the page of results.
#
#   all.sh [--quick] [PART]...      after `make bench-programs`; in under an hour, with --quick in under ten minutes
#                                   PART: such as lcc; default: all
#
# Each part gets a share of the remaining time (BENCH_SECONDS), and is ended if it takes longer; unused time goes to the parts after it.
# A part that fails, or whose requirements are missing, is reported, and the rest continues. BENCH_MINUTES sets the total time. Needs an
# otherwise idle machine. Writes build/results (or under BUILD), and at the end results.html there.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
export BUILD=${BUILD:-$here/../build}
results=$BUILD/results
quick=()
wanted=()
for argument; do
    case $argument in
    --quick) quick=(--quick) ;;
    -*)
        sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
        [ "$argument" = --help ] && exit 0 || exit 2
        ;;
    *) wanted+=("$argument") ;;
    esac
done

# Part, its folder, share of the time, share in a quick run, and whether it is always quick. The most important parts come first.
parts='lcc clampi 240 45
barnes_hut clampi 420 60
dft armci 330 40
dgemm vgasnet 200 35
pgas vgasnet 200 60
halo match 170 45 --quick
clampi clampi 240 60
armci armci 400 50
match match 440 55
vgasnet vgasnet 600 80
modes clampi 130 20 --quick
windows windows 300 60
sim . 220 55'
minutes=${BENCH_MINUTES:-57}
[ ${#quick[@]} = 0 ] || minutes=${BENCH_MINUTES:-9}
grace=60 # for a part to end by itself: a job in progress, plots, report
[ ${#quick[@]} = 0 ] || grace=15

selected() { # PART
    local part
    [ ${#wanted[@]} != 0 ] || return 0
    for part in "${wanted[@]}"; do [ "$part" != "$1" ] || return 0; done
    return 1
}

share_of() { # FULL QUICK
    [ ${#quick[@]} = 0 ] && echo "$1" || echo "$2"
}

say() {
    printf 'bench: %s\n' "$*"
}

span() { # SECONDS
    [ "$1" -lt 100 ] && echo "$1 s" || echo "$((($1 + 30) / 60)) min"
}

note() { # on the page as well
    say "$*"
    echo "- $*" >>"$results/bench.md"
}

stop() { # timeout kills the process group that it has started
    [ -z "$job" ] || kill "$job" 2>/dev/null
    echo "bench: stopped"
    exit 130
}
job=''
trap stop INT TERM HUP

run() { # PART SCRIPT SECONDS [OPTION]...: its lines are shown as they come
    local part=$1 script=$2 seconds=$3 shown status=0
    shift 3
    : >"$results/$part.log"
    BENCH_SECONDS=$seconds timeout -k 10 $((seconds + grace)) "$script" "$@" >"$results/$part.log" 2>&1 </dev/null &
    job=$!
    tail -n +1 -f --pid=$job "$results/$part.log" | grep --line-buffered '^bench-' &
    shown=$!
    wait $job || status=$?
    job=''
    wait $shown
    return $status
}

results_of() { # PART
    echo "$results/${1//_/-}"
}

part() { # NUMBER PART FOLDER SHARE ALWAYS: uses and updates weight, the sum of the shares of the remaining parts
    local number=$1 part=$2 script=$3/$2.sh share=$4 options=("${quick[@]}") left seconds status=0
    [ -z "$5" ] || options=(--quick)
    left=$((minutes * 60 - SECONDS))
    seconds=$((left * share / weight)) weight=$((weight - share))
    if [ ! -x "$here/$script" ]; then
        note "$part: not run: there is no bench/${script#./}"
        return
    fi
    if [ $seconds -lt 5 ]; then
        note "$part: not run: no time left"
        return
    fi
    say "$number of $total: $part, at most $(span $seconds); $(span $left) left for all"
    run "$part" "$here/$script" $seconds ${options[@]+"${options[@]}"} || status=$?
    case $status in
    0) ;;
    124 | 137) note "$part: ended after $((seconds + grace)) s; what it had measured by then is shown" ;;
    *) note "$part: exit status $status, not all of it was measured; see $part.log" ;;
    esac
    [ -e "$(results_of "$part")" ] || note "$part: nothing was measured: $(tail -n 1 "$results/$part.log")"
}

# How fast each core is before each part, and at the end (cores.c); nothing without the program.
look_at_cores() {
    local tree
    for tree in "$BUILD"/openmpi "$BUILD"/mpich; do
        [ ! -x "$tree/bench/cores" ] || { "$tree/bench/cores" >>"$results/cores.csv" && return; }
    done
}

# Per core the looks in which half of its loops took a tenth longer than its fastest, and the slowest rate.
note_cores() {
    local line
    while read -r line; do note "$line"; done < <(awk -F, '
        !($1 in least) { order[++count] = $1 }
        !($1 in least) || $2 < least[$1] { least[$1] = $2 }
        { looks[$1]++; median[$1, looks[$1]] = $3 }
        END {
            for (i = 1; i <= count; i++) {
                core = order[i]; slow = most = 0
                for (k = 1; k <= looks[core]; k++) {
                    slow += median[core, k] > 1.1 * least[core]
                    if (median[core, k] > most) most = median[core, k]
                }
                if (slow) printf "core %d was slow in %d of %d looks, with down to %.0f %% of its rate of loads and stores: not a quiet machine, perhaps by a neighbour that it does not see\n", core, slow, looks[core], 100 * least[core] / most
                quiet += !slow
            }
            if (count && quiet == count) printf "all cores kept their rate of loads and stores in %d looks\n", looks[order[1]]
        }' "$results/cores.csv" 2>/dev/null)
}

for part in "${wanted[@]}"; do
    grep -q "^$part " <<<"$parts" || { echo "bench: no part $part: $(cut -d ' ' -f 1 <<<"$parts" | paste -sd ' ' -)" >&2 && exit 2; }
done
mkdir -p "$results" || exit 1
results=$(cd "$results" && pwd)
rm -f "$results/bench.md" "$results/cores.csv"
total=0 weight=0 number=0
while read -r part folder full short always; do
    ! selected "$part" || { total=$((total + 1)) weight=$((weight + $(share_of "$full" "$short"))); }
done <<<"$parts"
echo "- measured on $(date -u '+%Y-%m-%d, %H:%M') UTC; load of the last minute at the start: $(cut -d ' ' -f 1 /proc/loadavg)${quick:+; a quick run: fewer sizes and rounds}" >>"$results/bench.md"
"$PYTHON" -c "import matplotlib" 2>/dev/null || note "no plots: matplotlib is not installed (package python3-matplotlib)"
[ "$("$here/../test/cluster/hosts.sh" with 2 printenv CLUSTER_KIND 2>/dev/null | tail -n 1)" = real ] ||
    note "no virtual hosts: this system allows none, and nodes are made on one host, over TCP"
while read -r name folder full short always <&3; do
    selected "$name" || continue
    number=$((number + 1))
    look_at_cores
    part $number "$name" "$folder" "$(share_of "$full" "$short")" "$always"
done 3<<<"$parts"
look_at_cores
note_cores
echo "- took $(((SECONDS + 30) / 60)) min" >>"$results/bench.md"
"$here/results.sh" "$results"
