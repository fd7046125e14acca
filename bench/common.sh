# What the scripts of the benches have in common; sourced by them:
#
#   bench_start NAME PROGRAM MPIS "$@"     MPIS: in the order in which they are wanted
#
# reads the one option that they have, and sets: here, build (BUILD, or build/ beside this folder), out (the empty folder
# build/results/NAME), quick (0, 1), mpis (those for which build/MPI/bench/PROGRAM is there), first (of them).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$here/../build}

usage() { # STATUS: the comment at the head of the script
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit "$1"
}

bench_start() {
    local mpi program=$2 wanted=$3
    bench=$1
    quick=0
    case "${4:-}" in
    '') ;;
    --quick) quick=1 ;;
    --help) usage 0 ;;
    *) usage 2 ;;
    esac
    mpis=()
    for mpi in $wanted; do
        [ ! -x "$build/$mpi/bench/$program" ] || mpis+=("$mpi")
    done
    if [ ${#mpis[@]} = 0 ]; then
        echo "bench-$bench: nothing is built under $build: run make first" >&2
        exit 1
    fi
    first=${mpis[0]}
    out=$build/results/$bench
    rm -rf "$out"
    mkdir -p "$out"
    out=$(cd "$out" && pwd)
}

pick() { # value, value in a quick run
    [ $quick = 1 ] && echo "$2" || echo "$1"
}

say() {
    printf 'bench-%s: %4ds  %s\n' "$bench" $SECONDS "$*"
}

fail() { # jobs may run in pipes: they count by a file
    say "FAILED or out of time: $*" | tee -a "$out/failed.log" >&2
}

table() { # FILE HEADER: starts a CSV
    echo "$2" >"$out/$1.csv"
}

busy() { # processes that run beside us, on average of the last minute
    cut -d ' ' -f 1 /proc/loadavg
}

version_of() { # MPI
    case $1 in
    openmpi) "$("$here/../packaging/mpis.sh" openmpi)" --showme:version 2>/dev/null | sed 's/^[^ ]*: //; s/ (.*//' ;;
    mpich) echo "MPICH $("$("$here/../packaging/mpis.sh" mpich)" -v 2>/dev/null | sed -n 's/^mpi[a-z]* for MPICH version //p')" ;;
    esac
}

versions() { # of the compiler and the MPIs
    local mpi
    echo "$(uname -sr); $("${CC:-cc}" --version | head -n 1); $(for mpi in "${mpis[@]}"; do version_of "$mpi"; done | paste -sd , - | sed 's/,/, /g')"
}
