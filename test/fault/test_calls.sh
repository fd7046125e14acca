#!/usr/bin/env bash
# Each request of Hearth's libraries to the system fails in turn: for memory, files, threads, and UCX's. The program ends well, or with
# a line that says what happened; it never crashes, hangs or gives a wrong result.
#   test_calls.sh MPI TREE      tier: full; timeout: 3600
set -uo pipefail
mpi=$1 tree=$2 failed=0 tried=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ -e "$tree/test/fail.so" ] || { echo "no fail.so: make tests" && exit 1; }
each=${HEARTH_TEST_CALLS:-10} # of each program and kind; all: every one
seed=${HEARTH_TEST_SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed (HEARTH_TEST_SEED)"

programs=( # name, settings and preloads, program and arguments
    "cache|--preload $tree/lib/libhearth-mpi.so --env HEARTH_BYPASS=never --env HEARTH_REPORT=$dir/report|$tree/test/mpi_smoke"
    "messages|--preload $tree/lib/libhearth-mpi.so --env HEARTH_MATCH=on|$tree/test/p2p_sendrecv"
    "armci|--env HEARTH_NODE_RANKS=1|$tree/test/armci_handles"
    "memory|--env HEARTH_NODE_RANKS=1 --env HEARTH_NVM=off|$tree/test/gas_values"
    "pages|--env HEARTH_NODE_RANKS=1 --env HEARTH_NVM_DIR=$dir|$tree/test/gas_values"
)

launch() { # program of the list, options...
    local options program
    IFS='|' read -r _ options program <<<"$1"
    shift
    # shellcheck disable=SC2086 # several words
    "$here/launch.sh" "$mpi" 2 --timeout 40 --preload "$tree/test/fail.so" --env TEST_FAIL_RANK=0 "$@" $options $program 2>&1
}

judge() { # what failed, exit status, output
    local what=$1 status=$2 out=$3
    tried=$((tried + 1))
    if grep -qE 'signal (4|6|7|8|11)\b|Segmentation|Bus error|EXIT CODE: (132|134|135|136|139)|Sanitizer|corrupted|free\(\)' <<<"$out"; then
        echo "FAIL $what: crashed"
    elif [ "$status" = 124 ] || [ "$status" = 137 ] || grep -q 'does not end' <<<"$out"; then
        echo "FAIL $what: did not end"
    elif grep -qE 'expected equal bytes|byte [0-9]+ of' <<<"$out"; then
        echo "FAIL $what: wrong data"
    elif [ "$status" != 0 ] && ! grep -qE 'hearth(\[[0-9]+\])?: (error|warning)' <<<"$out"; then
        echo "FAIL $what: status $status without a line that says why"
    else
        return 0
    fi
    tail -n 25 <<<"$out" | sed 's/^/    | /'
    failed=1
}

chosen() { # calls: which of them fail
    local i
    if [ "$each" = all ]; then
        seq 1 "$1"
    else
        for ((i = 0; i < each && i < $1; i++)); do echo $((RANDOM % $1 + 1)); done
    fi
}

for entry in "${programs[@]}"; do
    name=${entry%%|*}
    rm -f "$dir/count"
    out=$(launch "$entry" --env "TEST_FAIL_COUNT=$dir/count") || { echo "FAIL $name: without any failure" && sed 's/^/    | /' <<<"$out" && failed=1 && continue; }
    kinds=(memory files threads ucx)
    for calls in $(od -An -v -td8 -w8 "$dir/count"); do
        kind=${kinds[0]} kinds=("${kinds[@]:1}")
        for k in $(chosen "$calls"); do
            for from in '' :on; do
                out=$(launch "$entry" --env "TEST_FAIL=$kind:$k$from")
                judge "$name: call $k of $calls for $kind${from:+ and all behind it}" $? "$out"
            done
        done
        echo "done $name: $calls calls for $kind"
    done
done
echo "$tried jobs in which calls failed"
exit $failed
