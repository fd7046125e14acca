#!/usr/bin/env bash
# Tests lines of diagnosis: HEARTH_LOG by area, and that they say why a window is served or not, cached or not, what all ranks agreed on,
# and how messages go.   test_log.sh MPI TREE      timeout: 240
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 failed=0
out=''

run() { # options of launch.sh, --, program and its cases
    local options=()
    while [ "$1" != -- ]; do options+=(--env "$1") && shift; done
    shift
    out=$("$here/../launch.sh" "$mpi" 2 --timeout 60 --preload "$tree/lib/libhearth-mpi.so" "${options[@]}" "$tree/test/$1" "${@:2}" 2>&1)
}

says() { # regular expression that a line must match
    if grep -qE -- "$1" <<<"$out"; then
        echo "ok $1"
    else
        echo "FAIL no line like: $1"
        grep -aE 'hearth' <<<"$out" | head -n 30 | sed 's/^/    | /'
        failed=1
    fi
}

says_nothing() { # regular expression that no line may match
    ! grep -qE -- "$1" <<<"$out" || { echo "FAIL a line like: $1" && failed=1; }
}

serve='HEARTH_TEST_CONFIG=serve'
run $serve HEARTH_LOG=windows:debug HEARTH_WINDOWS=serve -- mpi_sync fence
says '^hearth\[0\]: debug: windows: a window of 2 ranks, [a-z]+, is served: '
says_nothing 'debug: (cache|job|net):'
run HEARTH_LOG=windows:debug HEARTH_WINDOWS=host -- mpi_sync fence
says 'debug: windows: a window, [a-z]+, is not served: HEARTH_WINDOWS and the info key hearth_windows leave it to MPI'
run HEARTH_LOG=windows:debug HEARTH_WINDOWS=auto -- mpi_sync fence
says 'debug: windows: windows that are over private memory, on one node: MPI keeps them, as .* \(decided now\)'
run HEARTH_LOG=windows:debug HEARTH_WINDOWS=serve HEARTH_NODE_RANKS=1 HEARTH_NET=mpi -- mpi_sync fence
says 'debug: windows: a window of 2 ranks on several nodes has no helpers'
says 'windows across nodes are left to MPI: over MPI messages a helper needs MPI_THREAD_MULTIPLE'

run HEARTH_LOG=cache:debug -- mpi_sync fence
says 'debug: cache: window [0-9]+: mode transparent; its gets may be cached'
run HEARTH_LOG=cache:debug HEARTH_MODE=off -- mpi_sync fence
says 'debug: cache: window [0-9]+: mode off; its gets are not cached in this mode'

run HEARTH_LOG=job:debug HEARTH_MATCH=on -- mpi_sync fence
says 'debug: job: all ranks agree: messages are matched by Hearth, inside a node through shared memory'
says 'debug: job: HEARTH_MATCH=on, from the environment; the default is off'
says 'debug: job: rank 1 of 2 is process [0-9]+; thread level'
run HEARTH_LOG=messages:trace HEARTH_MATCH=on HEARTH_TEST_CONFIG=match -- p2p_suite --programs large
says 'debug: messages: 2 processes of this node exchange messages in shared memory'
says 'trace: messages: [0-9]+ bytes to rank [01] are announced: the receiver'

run HEARTH_LOG=net:loud -- mpi_sync fence
says "warning: HEARTH_LOG=net:loud: 'loud' is not a level: error, warn, info, debug or trace; using the default, warn \\(on all 2 ranks\\)"
run HEARTH_LOG=nett:debug -- mpi_sync fence
says "warning: HEARTH_LOG=nett:debug: 'nett' is not an area: job, cache, windows"
exit $failed
