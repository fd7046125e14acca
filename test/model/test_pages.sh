#!/usr/bin/env bash
# Explores all interleavings of the coherence protocol of the pages, and checks its properties; a model with a fault
# must fail.
#   test_pages.sh MPI TREE [large]        tier: full; once: yes; timeout: 240
#
# Only sizes that take seconds; test_pages_large.sh runs the `large` ones.
set -uo pipefail
size=${3:-small} failed=0 optimize=-O0 # compiling takes longer than optimization would save
[ "$size" = small ] || optimize=-O2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v spin >/dev/null || { echo "spin is not installed" && exit 77; }
command -v gcc >/dev/null || { echo "gcc is not installed, which spin needs" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Explores all states, within 3 GB of memory and a time limit; writes the verifier's output to out.txt. Its status is
# 0 even if it finds an error.
explore() { # limit in seconds, options of spin
    local limit=$1
    shift
    (cd "$dir" && rm -f ./*.trail pan.c pan && spin -a "$@" "$here/model/pages.pml" >out.txt 2>&1 &&
        gcc -w $optimize -DSAFETY -DMEMLIM=3000 -DCOLLAPSE -o pan pan.c >>out.txt 2>&1 &&
        timeout -k 5 "$limit" ./pan -m200000 >>out.txt 2>&1)
}

# All states of this size satisfy the properties.
safe() { # limit, options
    local limit=$1
    shift
    if explore "$limit" "$@" && grep -q 'errors: 0' "$dir/out.txt" &&
        ! grep -qE 'max search depth too small|out of memory|reached -DMEMLIM' "$dir/out.txt"; then
        echo "ok safe ($*): $(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1 states/p' "$dir/out.txt")"
    else
        echo "FAIL safe ($*):"
        tail -n 30 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    fi
}

# An error of this kind must be found.
found() { # mutant, options
    local number=$1
    shift
    if explore 30 -DMUTANT="$number" "$@" &&
        grep -qE '^pan:1: (assertion violated|invalid end state)' "$dir/out.txt"; then
        echo "ok mutant $number: $(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$dir/out.txt")"
    else
        echo "FAIL mutant $number is not found with $*"
        tail -n 30 "$dir/out.txt" | sed 's/^/    | /'
        failed=1
    fi
}

if [ "$size" = large ]; then
    safe 300 -DNODES=2 -DOPS=3
    safe 300 -DNODES=2 -DOPS=3 -DCOOP=0
    safe 300 -DNODES=2 -DPAGES=2 -DFRAMES=1 -DOPS=2
    safe 300 -DNODES=2 -DPAGES=2 -DFRAMES=1 -DOPS=2 -DCOOP=0
    safe 600 -DNODES=3 -DOPS=2 -DWISHES=3
    safe 600 -DNODES=3 -DOPS=2 -DWISHES=3 -DCOOP=0
    safe 600 -DNODES=3 -DOPS=2 -DWISHES=18
else
    safe 60 -DNODES=2 -DOPS=2
    safe 60 -DNODES=2 -DOPS=2 -DCOOP=0
    safe 60 -DNODES=3 -DOPS=1
    safe 60 -DNODES=3 -DOPS=1 -DCOOP=0
    safe 60 -DNODES=2 -DPAGES=2 -DFRAMES=1 -DOPS=1
    while read -r number; do
        case $number in
        13) found 13 -DNODES=2 -DOPS=2 -DCOOP=0 ;;
        *) found "$number" -DNODES=2 -DOPS=2 ;;
        esac
    done < <(sed -nE 's/^#(el)?if MUTANT [!=]= ([0-9]+).*/\2/p' "$here/model/pages.pml" | sort -nu)
fi
exit $failed
