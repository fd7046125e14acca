#!/usr/bin/env bash
# Builds Hearth in other releases of Debian, and runs the quick tests with the MPIs there:   mpis.sh [-l] [-k REGEXP] [SUITE]...
#                                                                                                        (make test-mpis)
#   -l           only list the parts
#   -k REGEXP    only parts whose names match
#   SUITE        trixie, sid or another release; default: trixie
#
# The parts of a suite are
#   SUITE.MPI.build     all programs and libraries for this MPI, by gcc, with warnings as errors
#   SUITE.MPI.clang     the same by clang; nothing of it is run
#   SUITE.MPI.FAMILY    the quick tests of a family: p2p mpi net armci gas ga litmus scripts
#   SUITE.mpich.abi     the quick tests of messages and windows of this machine's own tree, library and programs, under the MPICH there
#   SUITE.abi.build     build/abi, for the standard ABI of MPI 5.0: all libraries, and the tests of messages and windows
#   SUITE.abi.MPI       these tests, built once, under this MPI's libmpi_abi.so; skipped if the release has none
#   SUITE.abi.run       one program, started by `hearth run` under each of them (abi_run.sh)
#   SUITE.unit          the unit tests, under ASan
#   SUITE.lint          the checks of the sources
# A part of tests builds what it needs. A root is made once, in build/roots (root.sh); its trees are in build/roots/SUITE.build. The
# programs run natively, in namespaces of their own (enter.sh). Every part has a time limit. The table at the end has one row per part.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
here=$PWD/test/mpis roots=$PWD/build/roots
mpis=(mpich openmpi)
families=(p2p mpi net armci gas ga litmus scripts)
abi_tests="p2p_suite p2p_foreign p2p_random p2p_threads mpi_suite mpi_random mpi_threads yield"
build_limit=3600 test_limit=2400 # seconds, on a busy machine
export JOBS=${JOBS:-$(nproc)}

usage() {
    sed -n '2,6s/^# \{0,1\}//p' "$here/mpis.sh" >&2
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
shift $((OPTIND - 1))
suites=("${@:-trixie}")

parts() { # suite
    local mpi part
    {
        for mpi in "${mpis[@]}"; do
            for part in build clang "${families[@]}"; do echo "$1.$mpi.$part"; done
        done
        printf "$1.%s\\n" mpich.abi abi.build abi.run abi.mpich abi.openmpi unit lint
    } | grep -E -- "$pattern"
}

inside() { # suite, seconds, command
    local suite=$1 limit=$2
    shift 2
    timeout -k 10 "$limit" "$here/enter.sh" "$roots/$suite" "${build:-$roots/$suite.build}" "$@"
}

# ---- the table ----

rows=() logs=()
failed=0

version_of() { # suite, MPI: its version, from its package
    local package=mpich
    [ "$2" = mpich ] || package=libopenmpi-dev
    dpkg-query --admindir "$roots/$1/var/lib/dpkg" -W -f '${Version}' $package 2>/dev/null
}

add_row() { # part, result, why
    local suite=${1%%.*} mpi
    mpi=$(cut -d. -f2 <<<"$1")
    [ "$mpi" != abi ] || mpi=${1##*.}
    case $mpi in unit | lint | build | run) mpi=- ;; *) mpi="$mpi $(version_of "$suite" "$mpi")" ;; esac
    rows+=("$suite|$mpi|${1##*.}|$2|$3")
    echo "$1: $2${3:+ ($3)}"
}

print_table() {
    echo
    printf '%s\n' 'root|MPI|part|result|why' "${rows[@]}" | column -t -s '|'
}

# ---- the parts ----

# Each sets `why` if it fails.
build_tree() { # suite, tree, commands that configure and build it
    local log=$roots/$1.build/build.$2.log
    inside "$1" $build_limit sh -c "
        { [ -f build/$2/CMakeCache.txt ] || $3; } && for tree in build/$2 build/common; do
            [ ! -d \$tree ] || cmake -DHEARTH_WERROR=ON \$tree || exit; done && $4" >"$log" 2>&1 && return
    why=$(grep -E -m 1 'error|Error' "$log" || tail -1 "$log")
    return 1
}

declare -A built
need_tree() { # suite, tree, targets
    [ -z "${built[$1.$2.$3]:-}" ] || return 0
    local configure="make build/$2/.configured" compile="make tree-$2 JOBS=$JOBS TARGETS='$3'"
    case $2 in
    clang-*)
        configure="cmake -S . -B build/$2 -G Ninja -DCMAKE_C_COMPILER=clang -DHEARTH_MPI=${2#*-} -DHEARTH_MPICC=\$(packaging/mpis.sh ${2#*-})"
        compile="cmake --build build/$2 -j $JOBS --target $3"
        ;;
    esac
    build_tree "$1" "$2" "$configure" "$compile" && built[$1.$2.$3]=1
}

build_for() { # part
    local suite=${1%%.*} mpi
    mpi=$(cut -d. -f2 <<<"$1")
    case ${1#*.} in
    abi.*) need_tree "$suite" abi all && need_tree "$suite" abi "$abi_tests" ;;
    *.clang) need_tree "$suite" "clang-$mpi" "all apps tests units" ;;
    unit) need_tree "$suite" asan units && need_tree "$suite" mpich "all units-long sims" ;;
    lint) need_tree "$suite" mpich all && need_tree "$suite" openmpi all ;;
    mpich.abi) [ -x build/mpich/test/p2p_suite ] || { why="this machine has no tree build/mpich: make tests" && return 1; } ;;
    *) need_tree "$suite" "$mpi" "all apps tests sims" ;;
    esac
}

reasons() { # log of test/run: why tests were skipped, with their number, and which failed
    sed -n 's/^skip   [^:]*: /skipped: /p; s/^\(FAIL \|flaky\)  \([^:]*\): .*/failed: \2/p' "$1" | sort | uniq -c |
        sed 's/^ *\([0-9]*\) /\1 /; s/^[0-9]* failed/failed/' | paste -sd ';' -
}

run_tests() { # part, options of test/run
    local part=$1 suite=${1%%.*} log result
    shift
    log=$roots/$suite.build/${part#*.}.log
    logs+=("$log")
    inside "$suite" $test_limit env RECORD= ${library_path:+"LD_LIBRARY_PATH=$library_path"} test/run "$@" quick >"$log" 2>&1 || failed=1
    result=$(grep -aE '^[0-9]+ passed, ' "$log" | tail -1)
    add_row "$part" "${result:-not finished}" "$(reasons "$log")"
}

# The programs and the library of this machine's tree, as the tree of a build folder of its own.
run_abi() { # part
    local build=$roots/${1%%.*}.abi
    rm -rf "$build"
    mkdir -p "$build/mpich" && cp -a build/mpich/lib build/mpich/bin build/mpich/test "$build/mpich/"
    run_tests "$1" -m mpich -k '^(p2p|mpi)_'
}

has_standard_abi() { # suite
    inside "$1" 60 packaging/mpis.sh abi >/dev/null 2>&1
}

run_program() { # part
    local suite=${1%%.*} log
    log=$roots/$suite.build/${1#*.}.log
    if inside "$suite" 600 test/mpis/abi_run.sh build/abi >"$log" 2>&1; then
        add_row "$1" "$(grep -c '^ok ' "$log") passed" ""
    else
        failed=1
        add_row "$1" "$(grep -c '^FAIL ' "$log") failed" "$(sed -n 's/^FAIL //p' "$log" | paste -sd ';' -)"
    fi
}

# The tree build/abi, as that of this MPI in a build folder of its own. The loader finds this MPI's library first.
run_standard() { # part
    local suite=${1%%.*} mpi=${1##*.} build file
    file=$(cd "$roots/$suite" && ls usr/lib/*/"libmpi_abi_$mpi.so".* 2>/dev/null | sed q)
    [ -n "$file" ] || { add_row "$1" skipped "this $mpi has no libmpi_abi.so" && return; }
    build=$roots/$suite.abi-$mpi
    rm -rf "$build"
    mkdir -p "$build/$mpi" "$build/host" && cp -al "$roots/$suite.build/abi"/{lib,bin,test} "$build/$mpi/"
    ln -s "/$file" "$build/host/libmpi_abi.so.1"
    library_path=/hearth/build/host run_tests "$1" -m "$mpi" -k '^(p2p|mpi)_(?!\w*_py)' # mpi4py has the MPI's own ABI
}

run_part() { # part
    local mpi family=${1##*.} why=
    mpi=$(cut -d. -f2 <<<"$1")
    if [ "$mpi" = abi ] && ! has_standard_abi "${1%%.*}"; then
        add_row "$1" skipped "no MPI of this release has the standard ABI" && return
    fi
    build_for "$1" || { failed=1 && add_row "$1" "does not build" "$why" && return; }
    case ${1#*.} in
    abi.run)
        run_program "$1"
        return
        ;;
    abi.mpich | abi.openmpi)
        run_standard "$1"
        return
        ;;
    esac
    case $family in
    build | clang) add_row "$1" built "" ;;
    unit) run_tests "$1" -k '^unit_' ;;
    lint) run_tests "$1" -k '^lint_' ;;
    abi) run_abi "$1" ;;
    scripts) run_tests "$1" -m "$mpi" -k "^test_.*\\.$mpi" ;;
    *) run_tests "$1" -m "$mpi" -k "^${family}_" ;;
    esac
}

run_suite() { # suite
    local part status=0 began=$SECONDS
    logs=()
    "$here/root.sh" "$1" "$roots/$1" || status=$?
    if [ $status != 0 ]; then
        [ $status = 77 ] || failed=1
        rows+=("$1|-|root|$([ $status = 77 ] && echo skipped || echo "not made")|see above")
        return
    fi
    inside "$1" $build_limit packaging/setup.sh test >/dev/null # packages that were added since the root was made
    for part in $(parts "$1"); do
        run_part "$part"
    done
    record_suite "$1" $((SECONDS - began))
}

# A build counts as one test. test/run in the root runs without RECORD.
record_suite() { # suite, seconds
    local suite mpi part result why passed=0 failures=()
    [ -n "${RECORD:-}" ] && [ "$pattern" = . ] || return 0
    while IFS='|' read -r suite mpi part result why; do
        [ "$suite" = "$1" ] || continue
        case $result in
        built) passed=$((passed + 1)) ;;
        'does not build' | 'not finished' | 'not made') failures+=(--failure "$mpi, $part: $result") ;;
        esac
    done < <(printf '%s\n' "${rows[@]}")
    test/status/record.py mpis --platform "$(uname -m)-$1" --seconds "$2" --passed $passed --failed $((${#failures[@]} / 2)) "${failures[@]}" \
        --mpi "MPICH $(version_of "$1" mpich)" --mpi "Open MPI $(version_of "$1" openmpi)" ${logs[@]+--log "${logs[@]}"}
}

for suite in "${suites[@]}"; do
    if [ $list = 1 ]; then parts "$suite"; else run_suite "$suite"; fi
done
[ $list = 0 ] || exit 0
print_table
exit $failed
