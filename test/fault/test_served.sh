#!/usr/bin/env bash
# Kills a rank while the ranks lock and update windows that Hearth serves, inside a node and between nodes: the job ends, no
# rank is left, and nothing is left in /dev/shm. Also runs programs without the library or the network that windows across
# nodes need: MPI serves them, and one line says why.
#   test_served.sh MPI TREE      tier: full; timeout: 120
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/own_shm.sh"
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/kill.sh"

check() { # name, program and arguments, options of launch.sh
    local left
    if kill_rank "$1" 2 "$2" --env HEARTH_WINDOWS=serve --env HEARTH_TEST_CONFIG=serve "${@:3}"; then echo "ok $1"; else failed=1; fi
    left=$(left_in_shm)
    [ -z "$left" ] || { echo "FAIL $1: left in /dev/shm: $left" && failed=1; }
}

check 'a rank that holds a lock' 'mpi_served_locks held_until_the_end'
check 'in the middle of operations' 'mpi_random --seconds 40'
check 'between nodes: a rank that holds a lock' 'mpi_served_locks held_until_the_end' --env HEARTH_NODE_RANKS=1
check 'between nodes: in the middle of operations' 'mpi_random --seconds 40' --env HEARTH_NODE_RANKS=1
grep -q 'windows: rank [01] cannot be reached: .*; the job is ended' "$dir/out" || grep -qi 'killed\|signal 9' "$dir/out" ||
    { echo 'FAIL between nodes: no line says why the job ended' && cat "$dir/out" && failed=1; }

left_to_mpi() { # name, expected reason, library, options of launch.sh
    "$here/launch.sh" "$mpi" 2 --timeout 60 --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 \
        "${@:4}" --preload "$3" "$tree/test/mpi_smoke" >"$dir/out" 2>&1 &&
        [ "$(grep -c "warning: windows across nodes are left to MPI: $2" "$dir/out")" = 1 ] && echo "ok $1" && return
    echo "FAIL $1"
    sed 's/^/    | /' "$dir/out"
    failed=1
}

# libhearth-core looks for libhearth-ucx in its own folder.
cp "$tree/lib/libhearth-core.so.1" "$dir"
left_to_mpi 'without libhearth-ucx.so' 'the network cannot be used, see above' "$tree/lib/libhearth-mpi.so" --env LD_LIBRARY_PATH="$dir"
grep -q 'error: network ucx: .*libhearth-ucx.so: .*: install it beside libhearth-core' "$dir/out" ||
    { echo 'FAIL without libhearth-ucx.so: no line names it' && cat "$dir/out" && failed=1; }
left_to_mpi 'HEARTH_NET=mpi' 'over MPI messages a helper needs MPI_THREAD_MULTIPLE' "$tree/lib/libhearth-mpi.so" --env HEARTH_NET=mpi
exit $failed
