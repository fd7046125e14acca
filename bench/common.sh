# Shared parts of the bench scripts, which source this file:
#
#   bench_start NAME PROGRAM MPIS "$@"     MPIS: in order of preference
#
# parses the common option, and sets: here, build (BUILD, or build/ beside this folder), out (the empty folder build/results/NAME),
# quick (0, 1), mpis (those for which build/MPI/bench/PROGRAM exists), first (of them).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${BUILD:-$here/../build}

# PYTHON, the interpreter of the reports: by default the first that has matplotlib. A python3 in PATH that is not the system's does not
# find the system's packages.
if [ -z "${PYTHON:-}" ]; then
    for PYTHON in python3 /usr/bin/python3 python3; do
        ! "$PYTHON" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("matplotlib") is None)' 2>/dev/null || break
    done
fi
export PYTHON

usage() { # STATUS: the comment at the head of the script
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
    exit "$1"
}

bench_report() { # COMMAND FOLDER [NAME=VALUE]...: reports and plots; see report/__main__.py
    PYTHONPATH=$here "$PYTHON" -B -m report "$@"
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
        echo "bench-$bench: no program $(basename "$program") under $build: run make bench-programs first; if it builds none, 'cmake build/${wanted%% *}' says what is missing" >&2
        exit 1
    fi
    if ! command -v "$PYTHON" >/dev/null; then
        echo "bench-$bench: no $PYTHON: reports need Python 3 (package python3)" >&2
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

fail() { # jobs may run in subshells of pipes, so failures are counted in a file
    say "FAILED or out of time: $*" | tee -a "$out/failed.log" >&2
}

table() { # FILE HEADER: starts a CSV
    echo "$2" >"$out/$1.csv"
}

# ---- number of rounds, and time limits ----

# Sets allowed, the seconds that this bench may take: BENCH_SECONDS, as set by all.sh, or its own.
allow() { # SECONDS SECONDS-IN-A-QUICK-RUN
    allowed=${BENCH_SECONDS:-$(pick "$1" "$2")}
}

late() { # PERCENT of the time: whether repetitions are to be omitted from here on
    [ $((SECONDS * 100)) -gt $((allowed * $1)) ] && say "late: no further rounds"
}

over() { # WHAT: whether the time is up and nothing more may be started; says so once. A bench that is run alone has no limit
    [ -n "${BENCH_SECONDS:-}" ] && [ $SECONDS -gt "$BENCH_SECONDS" ] || return 1
    [ -s "$out/left_out.log" ] || say "no time left; the rest is in $out/left_out.log" >&2
    echo "no time left for $*" >>"$out/left_out.log"
}

# price_of: the mean time of a get, from the run without a cache in the same round. missed_share: the share of a run's time that its
# missed gets would take at this price.
price_of() { # SECONDS GETS RANKS: us
    awk -v s="$1" -v g="$2" -v r="$3" 'BEGIN { print g ? s * 1e6 * r / g : 0 }'
}

missed_share() { # SECONDS GETS RANKS HIT-RATIO PRICE: empty without a cache or a price
    [ -z "$4" ] || [ -z "$5" ] || awk -v s="$1" -v g="$2" -v r="$3" -v h="$4" -v p="$5" 'BEGIN { if (s > 0) printf "%.4f\n", (1 - h) * g * p / (s * 1e6 * r) }'
}

time_left() { # SECONDS: or fewer, if fewer are left
    local left=$((${BENCH_SECONDS:-1000000} - SECONDS))
    [ "$left" -gt 5 ] || left=5
    [ "$left" -lt "$1" ] && echo "$left" || echo "$1"
}

narrow() { # TABLE NAME=VALUE...: whether all 95 % intervals of a table so far are within 5 %; names as in report/narrow.py
    bench_report narrow "$out/$1.csv" "${@:2}"
}

# Repeats FUNCTION ROUND, which runs each compared configuration once, until the intervals are within 5 %, MOST rounds are done, or
# PERCENT of the time is up: alternate WHAT MOST PERCENT FUNCTION TABLE NAME=VALUE...
alternate() {
    local what=$1 most=$2 percent=$3 function=$4 round
    shift 4
    for round in $(seq "$most"); do
        [ "$round" = 1 ] || ! late "$percent" || return 0
        say "$what, round $round of at most $most"
        "$function" "$round"
        ! narrow "$@" || { say "$what: all intervals within 5 % after $round rounds" && return 0; }
    done
}

# ---- launching jobs ----

# Options of launch.sh for ranks that communicate over TCP, in `wire`: MPICH 4.0 may hang at the end of such a job.
over_tcp() { # MPI
    wire=()
    [ "$1" != mpich ] || [ ! -e "$build/$1/test/nofin.so" ] || wire+=(--preload "$build/$1/test/nofin.so")
}

# The same for ranks on virtual hosts. MPIs do not know that these share cores: without these options waiting ranks would keep the cores
# from the ranks that answer.
over_hosts() { # MPI
    over_tcp "$1"
    case $1 in
    openmpi) wire+=(--env OMPI_MCA_mpi_yield_when_idle=1) ;;
    mpich) [ ! -e "$build/$1/test/yield.so" ] || wire+=(--preload "$build/$1/test/yield.so") ;;
    esac
}

# ---- the machine ----

cores() {
    echo "$(nproc) of $(getconf _NPROCESSORS_CONF) cores, $(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1) ($(uname -m))"
}

busy() { # mean number of other running processes in the last minute
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

# ---- the end ----

plots() { # [NAME=VALUE]...: draws from the tables; names as in report/plots
    local line
    say "plots"
    bench_report plots "$out" bench="$bench" "$@" >"$out/plots.tmp" 2>>"$out/errors.log" || say "no plots: see $out/errors.log"
    while read -r line; do say "$line"; done <"$out/plots.tmp"
    rm -f "$out/plots.tmp"
}

marked() { # MARK: how many lines of the report have it in a column
    grep -cF "| $1 |" "$out/results.md" || true
}

finish() { # [REACHED LOST]: how the report marks its figures; fails if a job has failed
    local failed figures=
    [ -s "$out/errors.log" ] || rm -f "$out/errors.log"
    touch "$out/failed.log"
    failed=$(wc -l <"$out/failed.log")
    [ $# = 0 ] || figures="$(marked "$1") figures reached, $(marked "$2") lost, "
    say "$figures$failed jobs failed: $out/results.md"
    [ "$failed" = 0 ]
}
