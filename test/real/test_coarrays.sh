#!/usr/bin/env bash
# Runs the test programs of Debian's OpenCoarrays, unmodified Coarray Fortran programs whose images reach each other by
# one-sided MPI: those that pass without Hearth also pass when Hearth executes their windows, on one node and on
# several.   test_coarrays.sh MPI TREE [NAME]...      tier: full; timeout: 2400; alone: yes
set -uo pipefail
mpi=$1 tree=$2 failed=0 passed=0 unfit=0
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
programs=$(find /usr/lib/*/open-coarrays/"$mpi"/bin -maxdepth 1 -name '*-tests' 2>/dev/null | head -n 1)
[ -n "$programs" ] || { echo "libcoarrays-$mpi-dev is not installed" && exit 77; }
# shellcheck disable=SC2046 # names without spaces
[ $# -gt 0 ] || set -- $(ls "$programs")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

images() { # options of launch.sh, program
    (cd "$dir" && "$here/launch.sh" "$mpi" 4 --timeout 60 "$@" >out.txt 2>&1)
}

# Some need other numbers of images, or an MPI that survives failed ranks. Others have races: sendget_* use what a get over
# TCP has not brought yet.
passes_alone() { # times, options of launch.sh, program
    local times=$1
    shift
    for _ in $(seq "$times"); do images "$@" || return 1; done
}

check() { # name of the configuration, option of launch.sh for the run without Hearth, program, options with Hearth
    local name=$1 alone=$2 program=$3
    shift 3
    if ! passes_alone 1 ${alone:+"$alone"} "$programs/$program"; then
        unfit=$((unfit + 1))
    elif images --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_WINDOWS=serve "$@" "$programs/$program"; then
        passed=$((passed + 1))
    else
        local status=$?
        cp "$dir/out.txt" "$dir/failed.txt"
        if ! passes_alone 20 ${alone:+"$alone"} "$programs/$program"; then
            unfit=$((unfit + 1))
        else
            echo "FAIL $program, $name: exit status $status"
            tail -n 12 "$dir/failed.txt" | sed 's/^/    | /'
            failed=$((failed + 1))
        fi
    fi
}

for program; do
    [ "$program" != increment_my_neighbor ] || continue # it updates without atomics, and fails now and then, also without Hearth
    check 'one node' '' "$program"
    check 'a node for each image' --tcp "$program" --env HEARTH_NODE_RANKS=1
done
echo "$passed passed, $failed failed; $unfit more do not pass without Hearth"
[ $failed = 0 ] && [ $passed -gt 0 ]
