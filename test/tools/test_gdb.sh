#!/usr/bin/env bash
# Tests what gdb shows of a program that is stopped with a cache, a window and queued messages.   test_gdb.sh MPI TREE      timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
command -v gdb >/dev/null || { echo 'no gdb: packaging/setup.sh test installs it' && exit 77; }
gdb -batch -ex 'python print("yes")' 2>/dev/null | grep -q yes || { echo 'this gdb has no Python' && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for name in ${!HEARTH_*}; do unset "$name"; done

cat >"$dir/stop.c" <<'END'
#include <mpi.h>
#include <unistd.h>
void stop_here(void);
__attribute__((noinline)) void stop_here(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
    long *base, values[4];
    int number = 7, got[300];
    MPI_Request requests[301];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 4; i++) {
            MPI_Get(&values[i], 8, MPI_BYTE, 0, 64 * i, 8, MPI_BYTE, win);
            MPI_Win_flush(0, win);
        }
    MPI_Irecv(got, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(got + 1, 1, MPI_INT, MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(&number, 1, MPI_INT, 0, 13, MPI_COMM_WORLD);
    stop_here();
    for (int i = 2; i < 300; i++) /* more than the arrays hold */
        MPI_Irecv(got + i, 1, MPI_INT, 0, 1000 + i, MPI_COMM_WORLD, &requests[i]);
    stop_here();
    _exit(0);
}
END
cc=$(cd "$here" && packaging/mpis.sh "$mpi") || exit 77
"$cc" -g -O0 -w "$dir/stop.c" -o "$dir/stop" || exit 1

cat >"$dir/script" <<END
set pagination off
set confirm off
set print frame-arguments none
source $here/tools/gdb/hearth-gdb.py
set environment LD_PRELOAD $tree/lib/libhearth-mpi.so
set environment HEARTH_MATCH on
set environment HEARTH_BYPASS never
set environment HEARTH_MODE always
set environment OMPI_ALLOW_RUN_AS_ROOT 1
set environment OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
set breakpoint pending on
break stop_here
run
echo ----- windows\n
hearth windows
echo ----- cache\n
hearth cache (*(struct window **)&rma_window_recent)->cache
echo ----- queues\n
hearth queues
echo ----- print\n
print **(struct window **)&rma_window_recent
print *(*(struct window **)&rma_window_recent)->cache
print *p2p_engine
continue
echo ----- long\n
hearth queues
END
out=$(timeout -k 5 100 gdb -nx -batch -x "$dir/script" "$dir/stop" 2>&1 </dev/null)
if grep -qE 'ptrace: Operation not permitted|Could not trace' <<<"$out"; then
    echo 'programs may not be traced here' && exit 77
fi

says() { # regular expression
    if grep -qE -- "$1" <<<"$out"; then
        echo "ok $1"
    else
        echo "FAIL no line like: $1"
        failed=1
    fi
}

says '^window 1 of 1 ranks, mode always, caching, operations by MPI, epochs: lock_all; 8 gets, 4 hits, 0 bypassed, [0-9]+ flushes elided$'
says '^    cache of 4 entries, 0 pending, 0 stale; 256 of [0-9]+ bytes used, 1 free regions, [0-9]+ slots; 8 gets, 4 entries made, 0 evictions$'
says '^    [0-9]+: CACHED rank 0, address 0x[0-9a-f]+, 8 bytes at [0-9]+ of the storage, accessed at [0-9]+$'
[ "$(grep -cE '^    [0-9]+: CACHED rank 0' <<<"$out")" = 4 ] || { echo 'FAIL another number of entries than 4' && failed=1; }
says '^engine with 2 receives posted \(at most 2\) and 1 messages unexpected \(at most 1\), [0-9]+ matched$'
says '^    posted: source 0, tag 11, context [0-9]+, item 0x'
says '^    posted: source any, tag 12, context [0-9]+, item 0x'
says '^    unexpected: source 0, tag 13, context [0-9]+, item 0x'
says '^\$1 = window 1 of 1 ranks'
says '^\$2 = cache of 4 entries'
says '^\$3 = engine with 2 receives'
says '^engine with 300 receives posted'
says '^    posted: source 0, tag 1019, context'
says '^    posted: further ones are not listed'
[ $failed = 0 ] || tail -n 60 <<<"$out" | sed 's/^/    | /'
exit $failed
