#!/usr/bin/env bash
# Makes calls of the command hearth for memory, files and processes fail, one at a time. It ends with a line that names the
# failure, or does without; a report that it prints is whole.
#   test_tools.sh MPI TREE      quick: openmpi; timeout: 120
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../own_shm.sh"
mpi=$1 tree=$2 failed=0 tried=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
[ -e "$tree/test/fail.so" ] || { echo "no fail.so: make tests" && exit 1; }
for name in ${!HEARTH_*}; do unset "$name"; done
kinds=(memory files threads system) # in the order of fail.h
most=8                              # calls of each kind, of those that there are

hearth() { # NAME=VALUE... --, arguments
    local env=()
    while [ "$1" != -- ]; do env+=("$1") && shift; done
    shift
    env "${env[@]}" TEST_FAIL_PROGRAM=hearth LD_PRELOAD="$tree/test/fail.so" timeout -k 5 60 "$tree/bin/hearth" "$@" </dev/null
}

judge() { # failed call, exit status
    if [ "$2" -ge 124 ]; then
        echo "FAIL $1: exit status $2"
    elif [ "$2" != 0 ] && ! grep -qE '^hearth(-[a-z]*)?: (error|warning)' "$dir/err"; then
        echo "FAIL $1: exit status $2 without a line that says why"
    elif [ "$2" = 0 ] && [ "$whole" = yes ] && ! cmp -s "$dir/out" "$dir/expected"; then
        echo "FAIL $1: exit status 0, and another output than without the failure"
    else
        return 0
    fi
    sed 's/^/    | /' "$dir/err" | tail -n 20
    failed=1
}

try() { # yes: its output is always the same; arguments of hearth
    local i k step
    whole=$1
    shift
    rm -f "$dir/count"
    hearth TEST_FAIL_COUNT="$dir/count" -- "$@" >"$dir/expected" 2>"$dir/err"
    mapfile -t counts < <(od -An -v -td8 -w8 "$dir/count" | tr -d ' ')
    for i in "${!kinds[@]}"; do
        step=$(((counts[i] + most - 1) / most))
        for ((k = 1; k <= counts[i]; k += step)); do
            hearth TEST_FAIL="${kinds[i]}:$k" -- "$@" >"$dir/out" 2>"$dir/err"
            judge "hearth $*: call $k of ${counts[i]} for ${kinds[i]}" $?
            tried=$((tried + 1))
        done
    done
    echo "ok hearth $*: ${counts[*]:0:${#kinds[@]}} calls"
}

sample() { # name, settings...
    /usr/bin/python3 "$here/tools/report/report_sample.py" "$dir/$1.json" "${@:2}"
}

sample a
sample b seed=2 faster=1.5
cp /bin/true "$dir/app"
cd "$dir" || exit 1
try yes report a.json
try yes report a.json b.json
try no report --html page.html a.json
try yes report --csv a.json
try no report --csv --output csv a.json
try no info
try no info -v
try no info --clean
try no run --dry-run -v "$("$here/../packaging/mpis.sh" "$mpi" mpirun)" -n 2 ./app
try no top --once -d 0
echo "$tried runs in which a call failed"
[ "$tried" -gt 100 ] || { echo "FAIL few calls were found" && failed=1; }
exit $failed
