#!/usr/bin/env bash
# Tests the call sites of a Python program: they are lines of its files, whether or not other threads run Python code meanwhile, however deep the
# stack is. Walking the stack of a Python program takes so long that only some of its gets are followed.
#   test_python_lines.sh MPI TREE       quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$here/tools/check_files.sh"
[ "$mpi" = openmpi ] && program=lines.py || program=lines_mpich.py
[ "$mpi" != openmpi ] || /usr/bin/python3 -c 'import mpi4py, numpy' 2>/dev/null || exit 77

line() { # of the program
    grep -n "# line: $1\$" "$here/tools/report/$program" | cut -d: -f1
}

run() { # report, arguments of the program
    local name=$1
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_REPORT="$dir/$name.json" \
        /usr/bin/python3 -B "$here/tools/report/$program" "${@:2}" >"$dir/log" 2>&1 || { echo "FAIL $name: $(cat "$dir/log")" && failed=1; }
    "$tree/bin/hearth" report "$dir/$name.json" >"$dir/$name.txt" || failed=1
}

# Whether this interpreter has the function that tells them.
/usr/bin/python3 -c 'import ctypes; p = ctypes.pythonapi; hasattr(p, "_Py_DumpTraceback") or hasattr(p, "PyUnstable_DumpTraceback") or exit(1)' ||
    { echo 'skipped: this Python tells no lines' && exit 77; }
for how in alone threads; do
    run $how $how
    check "$how: the line of a get, and its function" has "$dir/$how.txt" "^ +[0-9]+ +[0-9 ]+ .* fetch \($program:$(line fetch)\)$"
    check "$how: at the end of a deep stack" has "$dir/$how.txt" "^ +[0-9]+ +[0-9 ]+ .* deep \($program:$(line deep)\)$"
    check "$how: the line that made the window" grep -q '"line": '"$(line window)" "$dir/$how.json"
    check "$how: no other call site" test "$(grep -c "$program:[0-9]*)\$" "$dir/$how.txt")" = 2
done
exit $failed
