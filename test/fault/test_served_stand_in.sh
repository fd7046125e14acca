#!/usr/bin/env bash
# Tests served windows where the system cannot do all that they need. If the kernel denies access to the memory of other processes, as in
# some containers, MPI serves windows over existing memory, and one line says why. If the MPI creates no window over existing memory, as
# Debian's Open MPI between hosts, Hearth synchronises the ranks itself (serve_sync.c), and the results do not change.
#   test_served_stand_in.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77

cat >"$dir/deny.c" <<'END'
#include <errno.h>
#include <sys/types.h>
ssize_t process_vm_readv(void) {
    errno = EPERM;
    return -1;
}
END
cat >"$dir/window.c" <<'END'
#include <mpi.h>
int main(void) {
    _Alignas(64) static int mine[16]; /* for MPICH 4.0 */
    int rank, got = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine[0] = 7 + rank;
    for (int i = 0; i < 3; i++) {
        MPI_Win win;
        MPI_Win_create(mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_fence(0, win);
        MPI_Get(&got, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        MPI_Win_free(&win);
    }
    if (got != 8 - rank)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return MPI_Finalize();
}
END
cc -shared -fPIC -O1 "$dir/deny.c" -o "$dir/deny.so" && "$cc" -O1 "$dir/window.c" -o "$dir/window" || exit 1
# The MPIs use the call, too, if they are not told to leave it.
network=(--tcp)
[ "$mpi" != mpich ] || network=(--env UCX_TLS=posix,self)
for windows in serve auto; do
    out=$("$here/launch.sh" "$mpi" 2 "${network[@]}" --timeout 30 --preload "$tree/lib/libhearth-mpi.so" --preload "$dir/deny.so" \
        --env HEARTH_WINDOWS=$windows "$dir/window" 2>&1)
    status=$?
    lines=$(grep -c '^hearth\[0\]: warning: a window of 2 ranks is left to MPI: the kernel lets no process read' <<<"$out")
    if [ $status != 0 ] || [ "$lines" != $([ $windows = serve ] && echo 1 || echo 0) ] || [ "$(grep -c '^hearth' <<<"$out")" != "$lines" ]; then
        echo "FAIL denied, $windows: exit status $status"
        head -n 20 <<<"$out" | sed 's/^/    | /'
        failed=1
    fi
done
[ "$mpi" = openmpi ] || { echo "MPICH creates such windows between hosts" && exit $failed; }

out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --preload "$tree/lib/libhearth-ucx.so" --preload "$tree/test/fail.so" \
    --env TEST_FAIL=windows:1:on --env HEARTH_WINDOWS=serve --env HEARTH_NODE_RANKS=1 \
    --env HEARTH_TEST_CONFIG=tiny --env HEARTH_LOG=debug "$tree/test/mpi_sync" fence post_start_complete_wait post_start_complete_test \
    post_with_assertions 2>&1)
status=$?
# A window that is not served sends no blocks.
served=$(grep -cE 'windows across nodes: sent [1-9][0-9]* blocks' <<<"$out")
if [ $status != 0 ] || [ "$served" != 2 ]; then
    echo "FAIL exit status $status; windows are served on $served ranks of 2"
    sed 's/^/    | /' <<<"$out"
    failed=1
fi
exit $failed
