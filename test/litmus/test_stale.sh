#!/usr/bin/env bash
# Checks that the litmus tests can fail: over a cache that is never invalidated, each of them must read a forbidden
# value.
#   test_stale.sh MPI TREE            quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

stale() { # ranks, options of the program
    local ranks=$1
    shift
    "$here/launch.sh" "$mpi" "$ranks" --timeout 100 --env HEARTH_MODE=always --env HEARTH_BYPASS=never \
        --preload "$tree/lib/libhearth-mpi.so" "$tree/test/litmus_cache" --stale "$@"
}

stale 2 --runs 100 && stale 2 --runs 100 --threads && stale 4 --runs 20 --ranks 3
