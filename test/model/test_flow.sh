#!/usr/bin/env bash
# Explores all interleavings of the protocol of credits and grants, and checks its properties.
#   test_flow.sh MPI TREE [large|mutants]         tier: full; once: yes; timeout: 240; coverage: no
#
# Only sizes that take seconds; test_flow_large.sh runs the `large` ones, test_flow_mutants.sh the faults that the
# model must find.
set -uo pipefail
size=${3:-small} failed=0 optimize=-O0 # compiling takes longer than optimization would save
[ "$size" != large ] || optimize=-O2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v spin >/dev/null || { echo "spin is not installed" && exit 77; }
command -v gcc >/dev/null || { echo "gcc is not installed, which spin needs" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Explores all states, within 3 GB of memory and a time limit; writes the verifier's output to out.txt. Its status is
# 0 even if it finds an error.
explore() { # limit in seconds, options of gcc, of pan, of spin
    local limit=$1 build=$2 run=$3
    shift 3
    # shellcheck disable=SC2086 # several words
    (cd "$dir" && rm -f ./*.trail && spin -a "$@" "$here/model/flow.pml" >out.txt 2>&1 &&
        gcc -w -DMEMLIM=3000 -DCOLLAPSE $build -o pan pan.c >>out.txt 2>&1 &&
        timeout -k 5 "$limit" ./pan -m20000 $run >>out.txt 2>&1)
}

numbers() {
    sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1 states/p' "$dir/out.txt"
}

holds() { # name, limit, options of gcc, of pan, of spin
    local what=$1
    shift
    if explore "$@" && grep -q 'errors: 0' "$dir/out.txt" &&
        ! grep -q 'max search depth too small\|out of memory' "$dir/out.txt"; then
        echo "ok $what (${*:4}): $(numbers)"
    else
        echo "FAIL $what (${*:4}):"
        tail -n 30 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    fi
}

safe() { # limit, clients, B, operations, units
    holds "safe" "$1" "$optimize -DSAFETY" "" -DCLIENTS="$2" -DB="$3" -DOPS="$4" -DUNITS="$5"
}

completes() { # the same
    holds "completes" "$1" "$optimize -DNOFAIR" "-a" -DLIVENESS -DCLIENTS="$2" -DB="$3" -DOPS="$4" -DUNITS="$5"
}

found() { # mutant, clients, B, operations: an error of this kind must be found
    if explore 30 "$optimize -DSAFETY" "" -DMUTANT="$1" -DCLIENTS="$2" -DB="$3" -DOPS="$4" &&
        grep -qE '^pan:1: (assertion violated|invalid end state)' "$dir/out.txt"; then
        echo "ok mutant $1: $(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$dir/out.txt")"
    else
        echo "FAIL mutant $1 is not found with CLIENTS=$2 B=$3 OPS=$4"
        tail -n 30 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    fi
}

mutant() { # number: in the smallest size that shows it
    case $1 in
    1) found 1 1 1 2 ;;
    2 | 5 | 16) found "$1" 1 2 1 ;;
    13) found 13 1 4 1 ;;
    *) found "$1" 1 1 1 ;;
    esac
}

if [ "$size" = mutants ]; then
    while read -r number; do
        mutant "$number"
    done < <(sed -nE 's/^#if MUTANT [!=]= ([0-9]+).*/\1/p' "$here/model/flow.pml" | sort -nu)
elif [ "$size" = large ]; then
    safe 600 3 1 1 3
    safe 600 3 2 1 2
    safe 600 2 1 2 2
    safe 300 2 4 1 3
    completes 600 3 1 1 2
    completes 300 2 2 1 3
else
    safe 60 1 1 2 3
    safe 60 1 2 2 3
    safe 60 1 4 2 3
    safe 60 2 1 1 3
    safe 60 3 1 1 1
    completes 60 2 1 1 3
fi
exit $failed
