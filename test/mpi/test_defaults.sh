#!/usr/bin/env bash
# What is on by default, and what `auto` leaves to the MPI: windows and messages between nodes, and of processes with the runtime of a GPU.
# Without a window the default makes no thread, no memory and no line.
#   test_defaults.sh MPI TREE       timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$("$here/../packaging/mpis.sh" "$mpi")" -O1 "$here/mpi/off.c" -o "$dir/off" || exit 1
echo 'int cuInit(unsigned flags) { return (int)flags; }' | cc -x c -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$dir/libcuda.so.1" - || exit 1

out=''
run() { # [OPTION]... [-- ARGUMENT...]: options of launch.sh, arguments of the program
    local options=()
    while [ $# != 0 ] && [ "$1" != -- ]; do options+=("$1") && shift; done
    out=$("$here/launch.sh" "$mpi" 2 --defaults --timeout 50 --preload "$tree/lib/libhearth-mpi.so" "${options[@]}" "$dir/off" "${@:2}" 2>&1 | sort)
}

says() { # NAME REGEXP
    if grep -qE -- "$2" <<<"$out" && [ "$(grep -c 'result 7$' <<<"$out")" = 2 ]; then
        echo "ok $1"
    else
        echo "FAIL $1: no line like: $2" && sed 's/^/    | /' <<<"$out" && failed=1
    fi
}

log=(--env HEARTH_LOG=windows:debug,messages:debug,warn)
run --env HEARTH_WINDOWS=host -- no window
host=$out
run -- no window
says 'a program without windows' 'result 7$'
[ "$out" = "$host" ] && echo "ok it has no more threads or memory than with HEARTH_WINDOWS=host" ||
    { echo "FAIL with HEARTH_WINDOWS=host: $host; by default: $out" && failed=1; }
! grep -q hearth <<<"$out" || { echo "FAIL a line by default: $out" && failed=1; }
run "${log[@]}"
says 'by default a window on one node is measured' 'windows that are allocated, on one node: (Hearth serves|MPI keeps) them, as .* \(measured now\)'
says 'messages are left to MPI' 'messages are left to MPI: HEARTH_MATCH is off'
run "${log[@]}" --env HEARTH_NODE_RANKS=1 --env HEARTH_MATCH=auto
says 'between nodes it is left to MPI' 'windows that are allocated, on several nodes: MPI keeps them, as it spans nodes'
says 'messages, too' 'HEARTH_MATCH=auto: messages are matched by MPI: the job spans nodes'
run "${log[@]}" --env HEARTH_MATCH=auto
says 'on one node auto matches' 'HEARTH_MATCH=auto: messages are matched by Hearth: the job is on one node'
run "${log[@]}" --env HEARTH_MATCH=auto --preload "$dir/libcuda.so.1"
says 'windows beside a GPU' 'a window, allocated, is not served: a process has loaded the runtime of a GPU'
says 'messages beside a GPU' 'HEARTH_MATCH=auto: messages are matched by MPI: a process has loaded the runtime of a GPU'
run "${log[@]}" --env HEARTH_WINDOWS=serve --preload "$dir/libcuda.so.1"
says 'serve serves all the same' 'a window of 2 ranks, allocated, is served'
exit $failed
