#!/usr/bin/env bash
# Messages between nodes where UCX finds no network, in all processes or in one: they go through MPI in all of them.
#   test_fallback.sh MPI TREE      timeout: 120; quick: openmpi
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 tree=$2 failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/rank1" <<'END'
#!/usr/bin/env bash
[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" != 1 ] || export HEARTH_UCX_TLS=self
exec "$@"
END
chmod +x "$work/rank1"

check() { # what, lines about the missing network, launch options and the program
    local what=$1 lines=$2 rc=0
    shift 2
    "$here/../launch.sh" "$mpi" 2 --timeout 50 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on --env HEARTH_NODE_RANKS=1 \
        --env HEARTH_LOG=messages:debug --env HEARTH_TEST_CONFIG=link "$@" --programs order,truncation >"$work/out" 2>&1 || rc=$?
    if [ $rc = 0 ] && [ "$(grep -c 'no network among' "$work/out")" = "$lines" ] &&
        [ "$(grep -c 'messages between nodes go through MPI' "$work/out")" = 2 ]; then
        echo "ok $what"
    else
        echo "FAIL $what: exit status $rc"
        grep -E 'hearth|FAIL|failed' "$work/out" | tail -n 15 | sed 's/^/    | /'
        failed=1
    fi
}

suite=$tree/test/p2p_suite
check "no process has a network" 2 --env HEARTH_UCX_TLS=self "$suite"
check "one process has none" 1 "$work/rank1" "$suite"
exit $failed
