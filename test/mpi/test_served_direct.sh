#!/usr/bin/env bash
# Direct puts and gets on served windows (HEARTH_DIRECT): contiguous ones bypass the helper, accumulates never do.
#   test_served_direct.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export HEARTH_DIRECT=off\nexec "$@"\n' >"$dir/first"
chmod +x "$dir/first"

direct() { # HEARTH_DIRECT, case of served_ops, command before the program...: prints the direct operations of all ranks, or -1
    local out status=0
    out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 \
        --env HEARTH_DIRECT="$1" --env HEARTH_LOG=debug --env HEARTH_TEST_CONFIG=servedirect "${@:3}" "$tree/test/mpi_served_ops" "$2" 2>&1) || status=$?
    if [ $status != 0 ] || [ "$(grep -c 'windows across nodes: sent' <<<"$out")" != 2 ]; then
        echo "FAIL HEARTH_DIRECT=$1 $2: exit status $status" >&2
        sed 's/^/    | /' <<<"$out" >&2
        echo -1
        return
    fi
    sed -n 's/.*windows across nodes.* \([0-9]*\) direct operations.*/\1/p' <<<"$out" | awk '{ sum += $1 } END { print sum + 0 }'
}

check() { # name, condition
    if (($2)); then echo "ok $1"; else echo "FAIL $1: $2" && failed=1; fi
}

check 'puts and gets bypass the helper' "$(direct on requests) > 0"
check 'off: none' "$(direct off requests) == 0"
check 'TCP has no hardware for it: none' "$(direct auto requests) == 0"
check 'one rank has none: none' "$(direct on requests "$dir/first") == 0"
check 'accumulates go through the helper' "$(direct on accumulates_alone) == 0"
exit $failed
