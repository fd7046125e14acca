#!/usr/bin/env bash
# Explores all interleavings of the protocol of credits and grants, and checks its properties.
#   test_flow.sh MPI TREE [large|mutants]         tier: full; once: yes; timeout: 240; coverage: no
#
# Only sizes that take seconds; test_flow_large.sh runs the `large` ones, test_flow_mutants.sh the faults that the
# model must find.
set -uo pipefail
size=${3:-small} optimize=-O0 # compiling takes longer than optimization would save
[ "$size" != large ] || optimize=-O2
model=flow.pml
. "$(dirname "${BASH_SOURCE[0]}")/spin.sh"

safe() { # limit, clients, B, operations, units
    holds "safe" "$1" -DSAFETY "" -DCLIENTS="$2" -DB="$3" -DOPS="$4" -DUNITS="$5"
}

completes() { # the same
    holds "completes" "$1" -DNOFAIR "-a" -DLIVENESS -DCLIENTS="$2" -DB="$3" -DOPS="$4" -DUNITS="$5"
}

mutant() { # number: in the smallest size that shows it
    case $1 in
    1) found 1 -DCLIENTS=1 -DB=1 -DOPS=2 ;;
    2 | 5 | 16) found "$1" -DCLIENTS=1 -DB=2 -DOPS=1 ;;
    13) found 13 -DCLIENTS=1 -DB=4 -DOPS=1 ;;
    *) found "$1" -DCLIENTS=1 -DB=1 -DOPS=1 ;;
    esac
}

if [ "$size" = mutants ]; then
    while read -r number; do
        mutant "$number"
    done < <(mutants)
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
