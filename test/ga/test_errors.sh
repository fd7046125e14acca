#!/usr/bin/env bash
# Tests how programs on Global Arrays end after an error (fail.c): on all ranks, soon, with an exit status other than
# zero, and with the reason printed.   test_errors.sh MPI TREE      timeout: 120; waits: yes
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$tree/test/fail_ga
[ -x "$program" ] || { echo "no Global Arrays here: see packaging/setup.sh test" && exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT

ends() { # status: prints the kind of end
    case $1 in
    0) echo well ;;
    124 | 137) echo never ;;
    *) echo badly ;;
    esac
}

check() { # error, expected kind of end, expected message
    local status try
    for try in 1 2 3; do # MPICH's launcher sometimes drops the last lines
        status=0
        "$here/launch.sh" "$mpi" 2 --timeout 20 "$program" "$1" >"$out" 2>&1 || status=$?
        [ "$(ends $status)" = "$2" ] || break
        if grep -q "$3" "$out"; then
            echo "ok $1: status $status"
            return
        fi
    done
    echo "FAIL $1: status $status, expected to end $2 and to say '$3'"
    sed 's/^/    | /' "$out" | tail -n 20
    failed=1
}

check none well 'ended well'
check again well 'ended well'
check error badly 'the program gave up'
check error2 badly 'the program gave up'
check one badly 'the program gave up'
check handle badly 'ARRAY NOT ACTIVE'
check bounds badly 'cannot locate region'
check dims badly 'dimension'
exit $failed
