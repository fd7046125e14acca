#!/usr/bin/env bash
# Tests a program on Debian's Global Arrays and ARMCI-MPI (ga_tasks.c): correct results without Hearth, in mode
# transparent and in mode acquire, no stale hit, and as many hits as its access pattern allows.   test_ga.sh MPI TREE
# tier: full; timeout: 600
#
# The pattern allows, for 7 x 7 blocks: a task reads each of its 7 blocks of A once per column of C, so 6 of 7 reads
# are repeats since the draw, and each block of B once; a look reads each block of C twice. If draws are not sync
# events, the blocks of B repeat with each task. The program counts the remote gets among them, and 9 of 10 must hit.
# The rest are gets at which a lock is first known to be held, which is a sync event, and hits that are revalidated so
# that polling loops terminate.
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for name in "ga-$mpi" "armci-$mpi" "scalapack-$mpi" lapack blas gfortran; do
    echo 'int main(void) { return 0; }' | "$cc" -x c - -o "$dir/link" "-l$name" 2>/dev/null ||
        { echo "no lib$name here: see packaging/setup.sh full" && exit 77; }
done
echo '#include <ga.h>' | "$cc" -fsyntax-only -x c - 2>/dev/null || { echo "no ga.h here: libglobalarrays-dev" && exit 77; }
"$cc" -std=gnu11 -O2 "$here/real/ga_tasks.c" -o "$dir/ga_tasks" "-lga-$mpi" "-larmci-$mpi" "-lscalapack-$mpi" -llapack -lblas \
    -lgfortran -lm || exit 1

# Makes ARMCI-MPI get a block by one get with a datatype. This is the default on MPICH; on Open MPI, whose datatypes it
# avoids, the default is a get for each row.
direct=ARMCI_STRIDED_METHOD=DIRECT

run() { # options of launch.sh: writes the program's output to out.txt; returns its exit status
    rm -f "$dir/report.json"
    "$here/launch.sh" "$mpi" 2 --timeout 60 --env ARMCI_USE_WIN_ALLOCATE=0 "$@" "$dir/ga_tasks" >"$dir/out.txt" 2>&1
}

numbers() { # remote gets, repeats since the last draw or sync, repeats since the last sync
    sed -n 's/^ga_tasks: \([0-9]*\) remote gets, \([0-9]*\) repeat .*, \([0-9]*\) since the last sync; results right$/\1 \2 \3/p' "$dir/out.txt"
}

fail() { # what
    echo "FAIL $1"
    sed 's/^/    | /' "$dir/out.txt" | tail -n 20
    failed=1
}

hits() {
    awk -F: '/"(full|partial|pending)_hits"/ { n += $2 } END { print n + 0 }' "$dir/report.json"
}

check_results() { # what, options of launch.sh
    local what=$1
    shift
    if run "$@" && [ -n "$(numbers)" ]; then echo "ok $what: results right"; else fail "$what"; fi
}

hearth=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_REPORT="$dir/report.json")
tcp=(--tcp)

check_share() { # name, which repeats count: 2 since the last draw or sync, 3 since the last sync; options of launch.sh
    local what=$1 which=$2 remote allowed served
    shift 2
    if ! run "${hearth[@]}" --env $direct --env HEARTH_MODE=acquire "$@" || [ -z "$(numbers)" ]; then
        fail "$what"
        return
    fi
    remote=$(numbers | cut -d ' ' -f 1)
    allowed=$(numbers | cut -d ' ' -f "$which")
    served=$(hits)
    if [ "$allowed" -gt 100 ] && [ $((10 * served)) -ge $((9 * allowed)) ] && [ "$served" -le "$remote" ]; then
        echo "ok $what: $served of $remote remote gets served ($((100 * served / remote)) %), $allowed repeat"
    else
        fail "$what: $served of $remote remote gets served, $allowed repeat: expected 90 % of these"
    fi
}

check_stale() { # name, options of launch.sh
    local what=$1
    shift
    run "${hearth[@]}" --env HEARTH_MODE=acquire --env HEARTH_CHECK=1 "$@"
    if [ -n "$(numbers)" ] && [ "$(grep -cE 'none of [1-9][0-9]* hits was stale' "$dir/out.txt")" = 2 ]; then
        echo "ok $what: $(grep -oE 'none of [0-9]+ hits was stale' "$dir/out.txt" | paste -sd ';' -)"
    else
        fail "$what"
    fi
}

# Checks that the tests above can fail: blocks kept from one round to the next are stale.
check_found() {
    if run "${hearth[@]}" --env $direct --env HEARTH_MODE=always; then
        fail "always mode: wrong results were expected"
        return
    fi
    run "${hearth[@]}" --env $direct --env HEARTH_MODE=always --env HEARTH_CHECK=1
    if grep -qE '[1-9][0-9]* of [0-9]+ hits were stale' "$dir/out.txt"; then
        echo "ok always mode is found out, by the results and by the checker"
    else
        fail "always mode: stale hits were expected"
    fi
}

check_results 'bare, shared memory' --env $direct
check_results 'bare, TCP' "${tcp[@]}"
check_results 'transparent, shared memory' "${hearth[@]}" --env HEARTH_MODE=transparent --env $direct
check_results 'transparent, TCP' "${hearth[@]}" --env HEARTH_MODE=transparent "${tcp[@]}"
check_share 'acquire, shared memory' 2
check_share 'acquire, TCP' 2 "${tcp[@]}"
check_share 'acquire with quiet atomics, shared memory' 3 --env HEARTH_ATOMICS=quiet
check_share 'acquire with quiet atomics, TCP' 3 --env HEARTH_ATOMICS=quiet "${tcp[@]}"
check_share 'acquire, gets by MPI_Get, TCP' 2 --env ARMCI_RMA_ATOMICITY=0 "${tcp[@]}"
check_stale 'acquire, checked, shared memory' --env $direct
check_stale 'acquire, checked, TCP, as ARMCI-MPI is by default' "${tcp[@]}"
check_stale 'acquire with quiet atomics, checked, TCP' --env HEARTH_ATOMICS=quiet --env $direct "${tcp[@]}"
check_found
exit $failed
