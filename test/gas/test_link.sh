#!/usr/bin/env bash
# Links programs in C++ and in C to the shared library and to the static one, as a user would. test_link.sh MPI TREE;
# quick: openmpi; timeout: 90
set -uo pipefail
mpi=$1 tree=$2 failed=0
[ "$(basename "$tree")" != coverage ] || { echo "a user's link does not know the counters of the coverage tree" && exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
include=$here/../include
[ -e "$tree/lib/libvgasnet.so" ] || { echo "libvgasnet is not built" && exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/client.cpp" <<'CLIENT'
#define GASNET_PAR
extern "C" {
#include <gasnet.h>
#include <gasnet_tools.h>
}
#include <cstdio>

namespace {
int calls;
void add(gasnet_token_t, gasnet_handlerarg_t n) { calls += n; }
}

int main(int argc, char **argv) {
    gasnet_handlerentry_t table[] = {{200, (void (*)())add}};
    GASNET_SAFE(gasnet_init(&argc, &argv));
    GASNET_SAFE(gasnet_attach(table, 1, GASNET_PAGESIZE, 0));
    GASNET_SAFE(gasnet_AMRequestShort1((gasnet_mynode() + 1) % gasnet_nodes(), 200, 7));
    GASNET_BLOCKUNTIL(calls == 7);
    gasnet_barrier_notify(0, 0);
    GASNET_SAFE(gasnet_barrier_wait(0, 0));
    if (gasnet_mynode() == 0)
        std::printf("%u nodes, all well\n", (unsigned)gasnet_nodes());
    return 0;
}
CLIENT
cat >"$folder/client.c" <<'CLIENT'
#include <stdio.h>
#include <vgasnet.h>

int main(void) {
    if (vgasnet_init(NULL, NULL) != GASNET_OK || vgasnet_attach(NULL, 0, 0, 0) != GASNET_OK)
        return 1;
    vgasnet_barrier_notify(0, 0);
    if (vgasnet_barrier_wait(0, 0) != GASNET_OK)
        return 1;
    if (vgasnet_mynode() == 0)
        printf("%u nodes, all well\n", (unsigned)vgasnet_nodes());
    return 0;
}
CLIENT

check() { # name, link command
    local out
    if out=$("${@:2}" -o "$folder/$1" 2>&1) &&
        out=$("$here/launch.sh" "$mpi" 2 --timeout 30 --env HEARTH_NVM=off "$folder/$1" 2>&1) && grep -q '2 nodes, all well' <<<"$out"; then
        echo "ok $1"
    else
        echo "FAIL $1"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

# The libraries that the static library needs, from the shared one.
needs=$(readelf -d "$tree/lib/libvgasnet.so" | sed -n 's/.*NEEDED.*\[lib\(.*\)\.so.*\]/-l:lib\1.so/p' | grep -vE 'libc\.so|ld-linux|mpi|sanitizer|asan|ubsan|tsan' | sed 's/-l:lib\(.*\)\.so/\1/')
libraries=("$tree/lib/libhearth-core.so" -Wl,-rpath,"$tree/lib")
for name in $needs; do
    file=$(ldconfig -p | awk -v n="lib$name.so" 'index($1, n) == 1 { print $NF; exit }')
    [ -z "$file" ] || libraries+=("$file")
done
warn=(-Wall -Wextra -Werror -Wno-cast-function-type -I"$include" -I"$include/hearth" -I"$include/hearth/gasnet")
cc=$("$here/../packaging/mpis.sh" "$mpi")
check shared_c "$cc" "${warn[@]}" "$folder/client.c" -L"$tree/lib" -lvgasnet -Wl,-rpath,"$tree/lib"
check static_c "$cc" "${warn[@]}" "$folder/client.c" "$tree/lib/libvgasnet.a" "${libraries[@]}" -lpthread -ldl -lm
if cxx=$("$here/../packaging/mpis.sh" "$mpi" mpicxx); then
    check shared_cpp "$cxx" "${warn[@]}" "$folder/client.cpp" -L"$tree/lib" -lvgasnet -Wl,-rpath,"$tree/lib"
    check static_cpp "$cxx" "${warn[@]}" "$folder/client.cpp" "$tree/lib/libvgasnet.a" "${libraries[@]}" -lpthread -ldl -lm
fi
exit $failed
