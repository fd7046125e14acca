#!/usr/bin/env bash
# Runs the program of bench/windows for moments: all operations have the right results on both windows of each kind of
# memory, it ends, and it prints a line for each.
#   test_windows.sh MPI TREE       quick: openmpi; timeout: 60
set -uo pipefail
mpi=$1 tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bench=$here/../bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$("$here/../packaging/mpis.sh" "$mpi")" -std=gnu11 -D_GNU_SOURCE -O1 -I "$bench" -I "$here/../src" -o "$dir/windows_ops" "$bench/windows/windows_ops.c" \
    "$bench/windows/windows_each.c" "$bench/windows/windows_ucx.c" "$bench/windows/windows_vm.c" "$bench/windows/windows_echo.c" \
    "$here/../src/net/rpc/sched_slice.c" "$bench/sample.c" -lm || { echo "FAIL windows_ops.c does not compile" && exit 1; }
"$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --timeout 50 "$dir/windows_ops" --milliseconds 1 --compute 3 >"$dir/log" 2>&1 ||
    { echo "FAIL exit status $?" && sed 's/^/    | /' "$dir/log" && exit 1; }
failed=0
for memory in allocate alloc_mem malloc; do
    for operation in get put fetch_and_op compare_and_swap accumulate get_1m get_rows accumulate_64k lock_put create get_computing_p{50,99}; do
        grep -qE "^$operation,$memory,[1-9][0-9]*,[0-9.]*,[0-9.]+,([0-9.]*,){3}[0-9.]*$" "$dir/log" ||
            { echo "FAIL no line of $operation, $memory" && failed=1; }
    done
done
[ $failed = 0 ] && echo "ok all operations" || sed 's/^/    | /' "$dir/log"
exit $failed
