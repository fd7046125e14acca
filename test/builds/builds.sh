#!/usr/bin/env bash
# Builds Hearth with parts left out, and tests each build:   builds.sh [-l] [-k REGEXP]      (make test-builds)
#   -l           only list the builds
#   -k REGEXP    only builds whose names match
#
# A build MPI.WITHOUT has the MPI and is without
#   ucx xxhash uring ncurses hwloc    this optional library
#   libraries                         all of them
#   fortran                           Fortran: the MPI is made to look as if it had been built without (no_fortran.sh)
# Each build gets the libraries, the units and some programs, all with warnings as errors. All units but the slowest run, then jobs of each
# library on two ranks, among them programs that ask for what was left out, and the test of the installed files. The trees are in
# build/builds, with the logs. The table at the end has one row per build.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
here=$PWD/test/builds out=$PWD/build/builds
. test/foreign/units.sh
. test/builds/jobs.sh
builds=(openmpi.{ucx,xxhash,uring,ncurses,hwloc,libraries,fortran} mpich.{libraries,fortran})
targets="units mpi_suite p2p_suite armci_suite gas_suite net_suite mpi_layout"
slow=unit_pages_explore # computes for half a minute, the same in each build
export JOBS=${JOBS:-$(nproc)}
unset "${!HEARTH_@}" MPICC
export HEARTH_TEST_TIER=quick # for units

usage() {
    sed -n '2,4s/^# \{0,1\}//p' "$here/builds.sh" >&2
    exit 2
}

pattern=. list=0
while getopts lk: option; do
    case $option in
    l) list=1 ;;
    k) pattern=$OPTARG ;;
    *) usage ;;
    esac
done
[ $OPTIND -gt $# ] || usage

# ---- one build ----

leaves_out() { # library: whether this build does
    [ "$without" = libraries ] || [ "$without" = "$1" ]
}

options() {
    local library
    for library in ucx xxhash uring ncurses hwloc sdt; do
        ! leaves_out $library || echo "-DHEARTH_WITH_${library^^}=OFF"
    done
}

configure() {
    local compiler generator='Unix Makefiles'
    compiler=$(packaging/mpis.sh choose "$mpi") || return 1
    [ "$without" != fortran ] || compiler=$("$here/no_fortran.sh" "$compiler" "$out/$build.mpi") || return 1
    ! command -v ninja >/dev/null || generator=Ninja
    export MPICC=$compiler
    grep -qsFx "HEARTH_MPICC:UNINITIALIZED=$compiler" "$tree/CMakeCache.txt" || rm -rf "$tree"
    # shellcheck disable=SC2046 # several options
    cmake -S . -B "$tree" -G "$generator" -DHEARTH_MPI="$mpi" -DHEARTH_MPICC="$compiler" -DHEARTH_WERROR=ON $(options)
}

compile() {
    # shellcheck disable=SC2086 # several targets
    cmake --build "$tree" -j "$JOBS" --target all $targets
}

why() { # the first complaint of a compiler or a linker
    grep -vE '^: &&|-Werror' "$logs/build.log" | grep -E -m 1 'error|undefined|cannot find|Error' | cut -c 1-150
}

# Most units do not depend on what is left out: their programs are the same in several builds, but for debug information.
sum_of() { # program
    objcopy --strip-all --remove-section .note.gnu.build-id "$1" "$logs/${1##*/}.stripped" && cksum <"$logs/${1##*/}.stripped" | tr ' ' -
    rm -f "$logs/${1##*/}.stripped"
}

unit() { # program: leaves its exit status. One that has passed in another build of this run is not run again
    local sum status=0
    sum=${1##*/}.$(sum_of "$1")
    if [ ! -e "$out/passed/$sum" ]; then
        run_unit "$1" "$logs/${1##*/}.log" || status=$?
        [ $status != 0 ] || touch "$out/passed/$sum"
    fi
    echo $status >"$logs/${1##*/}.status"
}

units() {
    find "$tree/test" -maxdepth 1 -name 'unit_*' -type f ! -name $slow | sort | xargs -P "$JOBS" -I{} bash -c 'unit {}'
}
export -f unit run_unit sum_of
export out

count_units() {
    local file name
    for file in "$logs"/unit_*.status; do
        name=$(basename "$file" .status)
        case $(cat "$file") in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *)
            failed=$((failed + 1))
            echo "FAIL $build: $name: exit status $(cat "$file"); $logs/$name.log"
            ;;
        esac
    done
}

# ---- the table ----

rows=()
total_passed=0 total_failed=0 total_skipped=0

add_row() { # result
    rows+=("$build|$(sed 's/^[^:]*: //; s/,[^,]*$//' "$logs/mpi.log" 2>/dev/null)|$compile_time s|$((SECONDS - start - compile_time)) s|$passed|$failed|$skipped|$1")
    echo "$build: $1"
    total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed)) total_skipped=$((total_skipped + skipped))
}

test_build() { # sets `result`
    configure >"$logs/configure.log" 2>&1 || { result="does not configure: $logs/configure.log" && return 1; }
    packaging/mpis.sh tree "builds/$build" >"$logs/mpi.log"
    compile >"$logs/build.log" 2>&1 || { result="does not build: $(why)" && return 1; }
    passed=1 compile_time=$((SECONDS - start))
    units
    count_units
    jobs_of_build
    result=passed
    [ $failed = 0 ] || result=failed
}

rm -rf "$out/passed"
mkdir -p "$out/passed"
for build in "${builds[@]}"; do
    [[ $build =~ $pattern ]] || continue
    [ $list = 0 ] || { echo "$build" && continue; }
    mpi=${build%%.*} without=${build#*.} tree=$out/$build logs=$out/logs/$build
    passed=0 failed=0 skipped=0 start=$SECONDS compile_time=0 result=
    unset MPICC
    rm -rf "$logs"
    mkdir -p "$logs"
    export logs
    if packaging/mpis.sh choose "$mpi" >/dev/null 2>&1; then
        test_build || { failed=1 compile_time=$((SECONDS - start)); }
    else
        skipped=1 result="skipped: $mpi is not installed"
    fi
    add_row "$result"
done
[ $list = 0 ] || exit 0
echo
printf '%s\n' 'build|MPI|to build|to test|passed|failed|skipped|result' "${rows[@]}" | column -t -s '|'
echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
[ $total_failed = 0 ] && [ $total_passed != 0 ]
