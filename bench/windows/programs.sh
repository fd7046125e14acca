#!/usr/bin/env bash
# Programs of others on windows that Hearth executes, beside the same programs without Hearth.
#
#   programs.sh [--quick] [NAME]...     NAME: halo, table, ga or nwchem (default: all); in about 20 minutes, --quick in 2
#
# halo, table   Coarray Fortran on Debian's OpenCoarrays (coarray/): 2 images, on one node and, over TCP, on two
# ga            Debian's Global Arrays on Debian's ARMCI-MPI: a get from a rank that computes
# nwchem        Debian's NWChem (MPICH): benzene, DFT, on two nodes over TCP
#
# Each round runs a program without Hearth and with HEARTH_WINDOWS=serve, in turn. Writes runs.csv and results.md to
# build/results/programs: medians, ratios, and whether the results were equal.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
options=() names=()
for word; do
    case $word in -*) options+=("$word") ;; *) names+=("$word") ;; esac
done
[ ${#names[@]} -gt 0 ] || names=(halo table ga nwchem)
for name in "${names[@]}"; do
    case $name in halo | table | ga | nwchem) ;; *) usage 2 ;; esac
done
bench_start programs windows_ops "openmpi mpich" "${options[@]}"
allow 1200 120
rounds=$(pick 5 2)

launch() { # MPI PLACE WAY LIMIT COMMAND...; PLACE: node or nodes; WAY: bare or serve. The program's output is in job.txt
    local mpi=$1 place=$2 way=$3 limit=$4 place_options=()
    shift 4
    [ "$place" = node ] || place_options=(--tcp)
    [ "$way" = bare ] || place_options+=(--preload "$build/$mpi/lib/libhearth-mpi.so" --env HEARTH_WINDOWS=serve)
    [ "$way $place" != "serve nodes" ] || place_options+=(--env HEARTH_NODE_RANKS=1)
    (cd "$out" && "$here/../test/launch.sh" "$mpi" 2 --timeout "$limit" "${place_options[@]}" "$@" >job.txt 2>>errors.log)
}

record() { # PROGRAM MPI PLACE WAY ROUND VALUE RESULT
    local IFS=,
    echo "$*" >>"$out/runs.csv"
}

word_after() { # NAME: in the output of the program
    sed -n "s/^ *$1 *\([^ ]*\).*/\1/p" "$out/job.txt" | head -n 1
}

both_ways() { # PROGRAM MPI PLACE FUNCTION: the function runs it once: FUNCTION MPI PLACE WAY; prints value and result
    local round way answer
    for round in $(seq "$rounds"); do
        [ "$round" = 1 ] || ! late 90 || return 0
        for way in bare serve; do
            ! over "$1, $2, $3, round $round, $way" || return 0
            say "$1, $2, $3, round $round of $rounds, $way"
            if answer=$("$4" "$2" "$3" "$way"); then
                # shellcheck disable=SC2086 # two words
                record "$1" "$2" "$3" "$way" "$round" $answer
            else
                fail "$1, $2, $3, round $round, $way"
            fi
        done
    done
}

# ---- Coarray Fortran ----

coarray() { # PROGRAM
    local mpi flags
    program=$1
    for mpi in "${mpis[@]}"; do
        flags=$(pkg-config --libs "caf-$mpi" 2>/dev/null) || { say "$1, $mpi: no libcoarrays-$mpi-dev" && continue; }
        # shellcheck disable=SC2086 # several options
        "$("$here/../packaging/mpis.sh" "$mpi" mpifort)" -O2 -fcoarray=lib "$here/windows/coarray/$1.f90" -o "$out/$1.$mpi" $flags ${flags//-L/-Wl,-rpath,} 2>>"$out/errors.log" ||
            { fail "$1, $mpi: does not compile" && continue; }
        both_ways "$1" "$mpi" node run_coarray
        both_ways "$1" "$mpi" nodes run_coarray
    done
}

run_coarray() { # MPI PLACE WAY
    launch "$1" "$2" "$3" 120 "$out/$program.$1" && echo "$(word_after seconds) $(word_after sum)"
}

# ---- Global Arrays ----

ga() {
    local mpi
    for mpi in "${mpis[@]}"; do
        "$("$here/../packaging/mpis.sh" "$mpi")" -std=gnu11 -O2 "$here/windows/ga_busy.c" -o "$out/ga_busy.$mpi" "-lga-$mpi" "-larmci-$mpi" \
            "-lscalapack-$mpi" -llapack -lblas -lgfortran -lm 2>>"$out/errors.log" || { say "ga, $mpi: no Global Arrays or ARMCI-MPI" && continue; }
        both_ways ga "$mpi" node run_ga
        both_ways ga "$mpi" nodes run_ga
    done
}

# Windows that MPICH 4.0 allocates are wrong between processes of one node; those that Hearth allocates are not.
run_ga() { # MPI PLACE WAY
    local options=()
    [ "$3" = serve ] || options=(--env ARMCI_USE_WIN_ALLOCATE=0)
    launch "$1" "$2" "$3" 120 "${options[@]}" "$out/ga_busy.$1" "$(pick 200 50)" && echo "$(word_after p99) right"
}

# ---- NWChem ----

nwchem() {
    command -v nwchem.mpich >/dev/null || { say "nwchem: not installed" && return 0; }
    cat >"$out/benzene.nw" <<'N'
start benzene
memory 400 mb
geometry units angstrom noautosym
 C  0.000  1.396  0.000
 C  1.209  0.698  0.000
 C  1.209 -0.698  0.000
 C  0.000 -1.396  0.000
 C -1.209 -0.698  0.000
 C -1.209  0.698  0.000
 H  0.000  2.479  0.000
 H  2.147  1.240  0.000
 H  2.147 -1.240  0.000
 H  0.000 -2.479  0.000
 H -2.147 -1.240  0.000
 H -2.147  1.240  0.000
end
basis spherical
 * library 6-31g*
end
set fock:mirrmat f
set fock:replicated f
set dft:xcreplicated f
dft
 direct
 xc b3lyp
end
task dft energy
N
    both_ways nwchem mpich nodes run_nwchem
}

run_nwchem() { # MPI PLACE WAY
    launch "$1" "$2" "$3" 900 --env ARMCI_USE_WIN_ALLOCATE=0 nwchem.mpich benzene.nw || return 1
    local seconds energy
    seconds=$(sed -n 's/.*Total times.*wall: *\([0-9.]*\)s.*/\1/p' "$out/job.txt")
    energy=$(sed -n 's/.*Total DFT energy = *\(-[0-9]*\.[0-9]\{6\}\).*/\1/p' "$out/job.txt")
    [ -n "$seconds" ] && [ -n "$energy" ] && echo "$seconds $energy"
}

table runs program,mpi,place,way,round,value,result
for name in "${names[@]}"; do
    case $name in
    halo | table) coarray "$name" ;;
    *) "$name" ;;
    esac
done
{
    echo "# Programs on served windows"
    echo
    echo "- $(cores)"
    echo "- $(versions)"
    echo "- load of the last minute at the end: $(busy)"
    echo
    bench_report programs "$out"
} >"$out/results.md"
cat "$out/results.md"
finish
