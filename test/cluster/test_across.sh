#!/usr/bin/env bash
# Runs MPI programs on two virtual hosts, with the cache, and with windows that Hearth serves: test_across.sh MPI TREE.
# timeout: 90
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2

across() { # ranks, configuration, options of launch.sh and program
    "$here/hosts.sh" with 2 "$here/../launch.sh" "$mpi" "$1" --hosts n1,n2 --timeout 50 \
        --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_TEST_CONFIG="$2" --env HEARTH_BYPASS=never "${@:3}"
}

across 2 on "$tree/test/mpi_smoke"
across 4 serve1 --env HEARTH_WINDOWS=serve "$tree/test/mpi_suite" --programs served_ops,served_locks,served_long \
    exclusive_locks_exclude the_target_need_not_call_MPI requests long_operations_on_memory_of_the_program
