#!/usr/bin/env bash
# Tests another preloaded tool: behind Hearth it sees the calls that reach MPI (one get, one flush), in front of
# Hearth all calls of the program, each exactly once; the cache works in both orders. With a tool behind Hearth,
# messages through MPI make progress in all calls as without it, whether the tool wraps these calls or others.
# test_tool.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -shared -fPIC -O1 "$here/tool/tool.c" -o "$dir/tool.so" || exit 1
"$cc" -O1 "$here/tool/program.c" -o "$dir/program" || exit 1

check() { # name, first library, second library, line expected of both ranks
    local out
    out=$("$here/launch.sh" "$mpi" 2 --preload "$2" --preload "$3" --env HEARTH_BYPASS=never --env HEARTH_REPORT="$dir/run.json" \
        "$dir/program" 2>&1)
    local status=$? served
    served=$("$tree/bin/hearth" report "$dir/run.json" | grep -E '^ +\* +20 +18 ')
    if [ $status = 0 ] && [ "$(grep -c "$4" <<<"$out")" = 2 ] && [ "$served" ]; then
        echo "ok $1"
    else
        echo "FAIL $1: exit status $status, expected of both ranks: $4"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

hearth=$tree/lib/libhearth-mpi.so
check 'a tool behind Hearth' "$hearth" "$dir/tool.so" ': 1 gets, 1 flushes'
check 'a tool before Hearth' "$dir/tool.so" "$hearth" ': 10 gets, 10 flushes'

waits() { # tool, calls that it wraps
    local out
    if out=$("$here/launch.sh" "$mpi" 2 --preload "$hearth" --preload "$dir/$1.so" --env HEARTH_MATCH=on \
        --env HEARTH_MATCH_NODE=off "$tree/test/p2p_waits" collectives requests 2>&1); then
        echo "ok messages through MPI, a tool wraps $2"
    else
        echo "FAIL messages through MPI, a tool wraps $2"
        tail -n 12 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
}

"$cc" -shared -fPIC -O1 -DCOLLECTIVES "$here/tool/tool.c" -o "$dir/collectives.so" || exit 1
waits tool 'gets and flushes'
waits collectives 'collectives and waits'
exit $failed
