#!/bin/sh
# demo.sh: computes the Local Clustering Coefficient of an R-MAT graph on 4 ranks over TCP, first without and then with the cache. Graph
# and program are the same both times, and so must be the results.
#
# The time of a get differs a hundredfold between machines (ranks that share cores wait for each other), so a short run measures it
# first, and the graph is chosen so that the run without the cache takes about 20 seconds.
set -u

ranks=4 edge_factor=16 seed=1 tree='' scale='' vertices=''
limit=300 grace=8 # seconds: for a job; for a job to end after it has delivered its results

usage() {
    cat <<'END'
Usage: apps/demo.sh [options]
  --tree DIR         the build to use (default: build/openmpi, else build/mpich)
  --ranks N          2 or more (default 4)
  --scale S          2^S vertices, 1 to 30 (default: for a run of 20 seconds on this machine)
  --edge-factor EF   edges per vertex (default 16)
  --vertices K       count only K vertices of each rank (default: for a run of 20 seconds on this machine)
  --seed N           seed of the graph (default 1)
  --mpi              only print which MPI it would use: openmpi if installed, else mpich
  --help             print this
END
}

fail() {
    echo "demo: FAILED: $*"
    exit 1
}

# Open MPI first: its waiting ranks yield their cores, which the ranks have to share here.
say_mpi() {
    root=$(cd "$(dirname "$0")/.." && pwd) || fail "cannot find the directory of this script"
    mpis=$("$root/packaging/mpis.sh") || exit 1
    case $mpis in *openmpi*) echo openmpi ;; *) echo mpich ;; esac
    exit 0
}

need_number() {
    case $2 in '' | *[!0-9]* | ??????????*) fail "$1 '$2': must be a whole number" ;; esac
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        --help) usage; exit 0 ;;
        --mpi) say_mpi ;;
        --tree | --ranks | --scale | --edge-factor | --vertices | --seed) [ $# -gt 1 ] || fail "$1 needs a value" ;;
        *) fail "option '$1' is not known (see --help)" ;;
        esac
        [ "$1" = --tree ] || need_number "$1" "$2"
        case $1 in
        --tree) tree=$2 ;;
        --ranks) ranks=$2 ;;
        --scale) scale=$2 ;;
        --edge-factor) edge_factor=$2 ;;
        --vertices) vertices=$2 ;;
        --seed) seed=$2 ;;
        esac
        shift 2
    done
    [ "$ranks" -ge 2 ] || fail "--ranks '$ranks': must be 2 or more, or nothing is remote"
}

is_built() {
    [ -x "$1/bin/lcc" ] && [ -f "$1/lib/libhearth-mpi.so" ]
}

find_tree() {
    root=$(cd "$(dirname "$0")/.." && pwd) || fail "cannot find the directory of this script"
    if [ -z "$tree" ]; then
        tree=$root/build/openmpi
        [ -z "${MPICC:-}" ] || tree=$root/build/$("$root/packaging/mpis.sh" | sed q)
        is_built "$tree" || tree=$root/build/mpich
        is_built "$tree" || fail "nothing is built in $root/build: run make demo"
    fi
    is_built "$tree" || fail "bin/lcc and lib/libhearth-mpi.so are not both in '$tree': run make apps"
    tree=$(cd "$tree" && pwd)
}

# The launcher that belongs to the compiler of the tree.
find_launcher() {
    flavour=$(sed -n 's/^HEARTH_MPI:[A-Z]*=//p' "$tree/CMakeCache.txt" 2>/dev/null)
    compiler=$(sed -n 's/^HEARTH_MPICC:[A-Z]*=//p' "$tree/CMakeCache.txt" 2>/dev/null)
    launcher=$(MPICC=$compiler "$root/packaging/mpis.sh" "$flavour" mpirun) || launcher=$(command -v mpirun) || fail "no mpirun: install openmpi-bin or mpich"
    case $("$launcher" --version 2>&1) in
    *'Open MPI'* | *OpenRTE*) mpi=openmpi ;;
    *HYDRA* | *MPICH*) mpi=mpich ;;
    *) fail "'$launcher' is neither of Open MPI nor of MPICH" ;;
    esac
    [ "$mpi" = "${flavour:-$mpi}" ] || fail "'$tree' is built for $flavour, but '$launcher' is of $mpi"
}

# Runs the rest of the line on all ranks, over TCP on the loopback; preload is the library to preload, or empty.
launch() {
    preload=$1
    shift
    if [ "$mpi" = openmpi ]; then
        [ "$(id -u)" -ne 0 ] || set -- --allow-run-as-root "$@"
        [ -z "$preload" ] || set -- -x "LD_PRELOAD=$preload" "$@"
        set -- --oversubscribe --bind-to none --mca osc pt2pt --mca pml ob1 --mca btl tcp,self \
            --mca btl_tcp_if_include 127.0.0.0/8 -n "$ranks" "$@"
    else
        [ -z "$preload" ] || set -- -genv LD_PRELOAD "$preload" "$@"
        set -- -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES lo -genv MPIR_CVAR_NOLOCAL 1 -n "$ranks" "$@"
    fi
    exec timeout -k 5 "$limit" "$launcher" "$@"
}

is_complete() {
    grep -qs '^}' "$1"
}

running() {
    kill -0 "$job" 2>/dev/null
}

# MPICH 4.0 over TCP may hang in MPI_Finalize after all work is done: such a job is killed, and its results count.
await() {
    left=$grace
    while running; do
        sleep 1
        is_complete "$1" && left=$((left - 1))
        if [ $left -le 0 ]; then
            kill "$job"
            wait "$job" 2>/dev/null
            [ "$mpi" = mpich ] || return 1
            echo "demo: the results are complete, but the job did not end and was stopped (MPICH 4.0 over TCP can hang in MPI_Finalize)"
            return 0
        fi
    done
    wait "$job"
}

# run NAME PRELOAD OPTIONS...: leaves the results in $work/NAME.json
run() {
    name=$1 preload=$2
    shift 2
    launch "$preload" "$tree/bin/lcc" --seed "$seed" --edge-factor "$edge_factor" --json "$work/$name.json" "$@" \
        >"$work/$name.out" &
    job=$!
    await "$work/$name.json"
    status=$?
    job=
    [ $status -ne 124 ] || fail "the run $name the cache took more than $limit seconds"
    [ $status -eq 0 ] || fail "the run $name the cache ended with exit code $status"
    is_complete "$work/$name.json" || fail "the run $name the cache left no results"
}

value() {
    sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$work/$1.json" | head -n 1
}

# R-MAT graphs of edge factor 16 have about 11.8 edges per vertex left at scale 12, and 4 % more at each scale above.
choose() {
    run sizing '' --scale 12 --vertices 40 --quiet
    awk -v s="$(value sizing seconds)" -v g="$(value sizing window_gets)" -v r="$ranks" -v ef="$edge_factor" '
        BEGIN {
            us = s * 1e6 * r / (g ? g : 1); budget = 25e6 / us
            per = 2 * 11.8 * ef / 16 * (r - 1) / r
            for (scale = 16; scale > 10; scale--)
                if (2 ^ scale / r * per * 1.04 ^ (scale - 12) <= 1.2 * budget) break
            all = 2 ^ scale / r; k = budget / per
            printf "%.0f %d %d\n", us, scale, k < all / 1.2 ? (k < 1 ? 1 : k) : 0
        }' >"$work/size"
    read -r us scale sample <"$work/size"
    [ "$sample" -eq 0 ] || vertices=$sample
    echo "demo: a get takes about $us us here, so the graph gets 2^$scale vertices${vertices:+, $vertices counted per rank}"
}

# Prints the table and the verdict.
compare() {
    [ "$(value without checksum)" = "$(value with checksum)" ] ||
        fail "the results differ: checksum $(value without checksum) without and $(value with checksum) with the cache"
    ratio=$(value with hit_ratio)
    [ -n "$ratio" ] || fail "the cache was not loaded into the ranks"
    awk -v a="$(value without us_per_vertex_max)" -v b="$(value with us_per_vertex_max)" -v h="$ratio" \
        -v v="$(value with vertices)" -v e="$(value with edges)" -v g="$(value with window_gets)" 'BEGIN {
            x = b > 0 ? a / b : 0
            printf "\n%d vertices, %d edges, %d gets\n", v, e, g
            printf "%-24s %12s %12s\n", "", "without", "with cache"
            printf "%-24s %12.1f %12.1f\n", "time per vertex (us)", a, b
            printf "%-24s %12s %12.4f\n", "hit ratio", "-", h
            printf "%-24s %12s %12.2f\n", "speed-up", "1", x
            printf "results equal: yes\n\n"
            if (h == 0) { print "demo: FAILED: no get was served from the cache"; exit 1 }
            if (x >= 1) printf "demo: ok, %.1fx faster with the cache (hit ratio %.2f)\n", x, h
            else printf "demo: ok, but slower with the cache here: %.2fx (hit ratio %.2f)\n", x, h
        }'
}

# Prints the folder relative to the user's current one.
say_next() {
    here=$tree
    case $tree in "$PWD"/*) here=${tree#"$PWD"/} ;; esac
    cat <<END

Next, with your own program that calls MPI_Get (nothing is rebuilt or relinked):

    $here/bin/hearth run --report run.json mpirun -n 2 ./program
    $here/bin/hearth report run.json

make builds all libraries for each MPI; README.md says what fits which program; make test runs the tests.
END
}

clean_up() {
    [ -z "$job" ] || kill "$job" 2>/dev/null
    rm -rf "$work"
}

parse "$@"
find_tree
find_launcher
unset LD_PRELOAD
job=
work=$(mktemp -d) || fail "cannot make a temporary directory"
trap clean_up EXIT
trap 'exit 130' INT TERM

echo "demo: Local Clustering Coefficient of an R-MAT graph, $ranks ranks over TCP ($mpi)"
[ -n "$scale$vertices" ] || choose
style=lines
[ ! -t 2 ] || style=line
set -- --scale "${scale:-15}" --progress "$style" ${vertices:+--vertices "$vertices"}
echo "demo: without the cache ..."
run without '' "$@"
echo "demo: with the cache ..."
run with "$tree/lib/libhearth-mpi.so" "$@"
compare || exit 1
say_next
