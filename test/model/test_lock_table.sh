#!/usr/bin/env bash
# Explores all interleavings of threads that take the locks of a lock table, and die; and checks that each fault in the model is found.
#   test_lock_table.sh MPI TREE [large]         tier: full; once: yes; timeout: 240; coverage: no
#
# Only sizes that take seconds; test_lock_table_large.sh runs the `large` ones.
set -uo pipefail
size=${3:-small} optimize=-O0 # compiling takes longer than optimization would save
[ "$size" != large ] || optimize=-O2
model=lock_table.pml
. "$(dirname "${BASH_SOURCE[0]}")/spin.sh"

safe() { # limit, threads, times that each acquires, deaths
    holds "safe" "$1" -DSAFETY "" -DTHREADS="$2" -DOPS="$3" -DDEATHS="$4"
}

mutant() { # number: in the smallest size that shows it
    case $1 in
    2) found 2 -DTHREADS=2 -DOPS=2 -DDEATHS=0 ;;
    4) found 4 -DTHREADS=3 -DOPS=1 -DDEATHS=0 ;;
    *) found "$1" -DTHREADS=2 -DOPS=1 -DDEATHS=1 ;;
    esac
}

if [ "$size" = large ]; then
    safe 600 3 1 0
    safe 600 2 2 1
else
    safe 60 2 1 0
    safe 60 2 1 1
    safe 60 2 1 2
    safe 60 2 2 0
    while read -r number; do
        mutant "$number"
    done < <(mutants)
fi
exit $failed
