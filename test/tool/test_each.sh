#!/usr/bin/env bash
# Tests a tool that wraps one call only, for each call that Hearth interposes: in front of Hearth and behind it the
# tool sees the call once, and it reaches the MPI library. MPI is not initialized (each.c).   test_each.sh MPI TREE
# timeout: 120
set -uo pipefail
mpi=$1 tree=$(cd "$2" && pwd) failed=0 count=0 elsewhere=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../../packaging/mpis.sh" "$mpi") || exit 77
hearth=$tree/lib/libhearth-mpi.so
include=(-I "$here/../../src" -I "$tree/src/mpi")

for part in HOST USED TOOL CALLS; do
    "$cc" -O1 -w -fPIC "-DPART_$part" "${include[@]}" -c "$here/each.c" -o "$dir/$part.o" || exit 1
done
"$cc" -shared "$dir/HOST.o" "$dir/USED.o" -o "$dir/host.so" && "$cc" "$dir/CALLS.o" -o "$dir/calls" -ldl || exit 1

check() { # call, order of libraries, the libraries
    local out
    LD_PRELOAD=$3 "$dir/calls" "$1" >"$dir/out" 2>&1 && return
    out=$(head -n 3 "$dir/out")
    echo "FAIL a tool $2 Hearth: ${out:-$1 ended by a signal}"
    failed=1
}

# In the quick tier a call is tested with a tool on one side of Hearth, those behind and before in turn, and each of the two MPIs tests one half of
# the calls that both have: those of even or of odd length.
quick=''
[ "${HEARTH_TEST_TIER:-}" != quick ] || quick=yes
declare -A both=()
[ "$mpi" = openmpi ] && odd=1 || odd=0
[ $odd = 1 ] && other=$tree/../mpich/lib/libhearth-mpi.so || other=$tree/../openmpi/lib/libhearth-mpi.so
if [ "${HEARTH_TEST_TIER:-}.${tree##*/}" = "quick.$mpi" ] && [ -e "$other" ]; then
    while read -r call; do both[$call]=1; done < <(nm -D --defined-only "$other" | sed -n 's/.* T //p')
fi
for call in $("$dir/calls"); do
    [ -z "${both[$call]:-}" ] || [ $((${#call} % 2)) = $odd ] || { elsewhere=$((elsewhere + 1)) && continue; }
    echo "{ global: $call; each_tool_calls; local: *; };" >"$dir/tool.map"
    ld -shared --version-script="$dir/tool.map" "$dir/TOOL.o" -o "$dir/tool.so" || exit 1
    [ -n "$quick" ] && [ $((count % 2)) = 1 ] || check "$call" behind "$hearth $dir/tool.so $dir/host.so"
    [ -n "$quick" ] && [ $((count % 2)) = 0 ] || check "$call" before "$dir/tool.so $hearth $dir/host.so"
    count=$((count + 1))
done
echo "$count calls, each with a tool of its own; $elsewhere are tested with the other MPI"
[ $((count + elsewhere)) -gt 100 ] && [ $count -gt 50 ] && [ $failed = 0 ]
