#!/usr/bin/env bash
# Tests the sections of hearth report that appear only where a program does something: one-sided calls that wait for a busy target, served
# windows, ARMCI, vGASNet.
#   test_report_sections.sh MPI TREE       quick: openmpi; timeout: 120
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$here/tools/check_files.sh"
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
preload=(--preload "$tree/lib/libhearth-mpi.so")

run() { # report, options of launch.sh and the program: also as text, and as one line
    local name=$1
    shift
    "$here/launch.sh" "$mpi" 2 --env HEARTH_REPORT="$dir/$name.json" "$@" >"$dir/log" 2>&1 || { cat "$dir/log" && failed=1; }
    "$tree/bin/hearth" report "$dir/$name.json" >"$dir/$name.txt" || failed=1
    tr '\n' ' ' <"$dir/$name.txt" >"$dir/$name.line"
}

# ---- a target that computes ----

"$cc" -O1 "$here/tools/saved.c" -o "$dir/saved" && "$cc" -O1 -shared -fPIC "$here/tools/report/busy_target.c" -o "$dir/busy.so" || exit 1
run waits "${preload[@]}" --env HEARTH_WINDOWS=host --preload "$dir/busy.so" "$dir/saved" 400 400 0
check 'flushes that wait for a target are told' has "$dir/waits.txt" '^MPI_Win_flush +400 +[1-9][0-9]* +[0-9.]+ m?s'
check 'in short, with the remedy' has "$dir/waits.line" \
    '[0-9]+ one-sided calls took at least 16 times as long as usual, which cost [0-9.]+ m?s \([0-9.]+ % of the run\).* \(HEARTH_WINDOWS=serve\) may remove waits'
check 'no window was served' lacks "$dir/waits.txt" 'Served windows:'
run served --tcp "${preload[@]}" --env HEARTH_WINDOWS=serve "$dir/saved" 400 400 0
# To MPICH each rank is a node if there is no shared memory.
check 'served windows: operations by way' has "$dir/served.txt" '^(shared memory|by the helper of the target.s node) +400 +100 %$'
check 'how many windows' has "$dir/served.txt" '^2 windows were served\.'
check 'the remedy is not repeated' lacks "$dir/served.line" 'may remove'

# ---- ARMCI and vGASNet: their parts go into the report of the job ----

mkdir "$dir/steps" && touch "$dir/steps/go1" "$dir/steps/go2" # the programs wait for these files elsewhere
if [ -e "$tree/lib/libarmci.so" ]; then
    "$cc" -O1 -I"$here/../include/hearth/armci" "$here/tools/top/live_armci.c" -o "$dir/live_armci" -L"$tree/lib" -larmci -Wl,-rpath,"$tree/lib" || exit 1
    run armci "${preload[@]}" --env HEARTH_NODE_RANKS=1 "$dir/live_armci" "$dir/steps"
    check 'ARMCI: calls' has "$dir/armci.txt" '^put +80 +200 +2\.19 KB +8 B$'
    check 'ARMCI: blocks' has "$dir/armci.txt" '^blocks +[1-9]'
    check 'ARMCI: the helpers' has "$dir/armci.line" '2 nodes\. The helpers computed for [0-9.]+ [um]?s of [0-9.]+ m?s'
    check 'ARMCI: in short' has "$dir/armci.line" 'It made [0-9]+ calls of ARMCI with 2\.19 KB, [0-9]+ % of them to other nodes\. The helpers of ARMCI were busy'
    check 'ARMCI: with the time in MPI' has "$dir/armci.txt" '^MPI_Barrier '
    check 'ARMCI: one report' test "$(cd "$dir" && ls -d armci*.json)" = armci.json
    run alone --env HEARTH_NODE_RANKS=1 "$dir/live_armci" "$dir/steps"
    check 'ARMCI without libhearth-mpi' has "$dir/alone.txt" '^put +80 +200 +2\.19 KB +8 B$'
    check 'its ranks and nodes' has "$dir/alone.txt" '^@ Ranks +: 2 on 2 nodes$'
    check 'which begins with its calls' has "$dir/alone.line" 'Your program made [0-9]+ calls of ARMCI'
    check 'no version with control characters' has "$dir/alone.json" '"mpi": "[A-Z][!-~ ]+"'
    sed '/ARMCI_Finalize/d' "$here/tools/top/live_armci.c" >"$dir/left_armci.c"
    "$cc" -O1 -I"$here/../include/hearth/armci" -I"$here/tools/top" "$dir/left_armci.c" -o "$dir/left_armci" -L"$tree/lib" -larmci -Wl,-rpath,"$tree/lib" || exit 1
    run left "${preload[@]}" --env HEARTH_NODE_RANKS=1 "$dir/left_armci" "$dir/steps"
    check 'ARMCI that MPI_Finalize ends: a report beside the other' has <("$tree/bin/hearth" report "$dir/left.armci.json") '^put +80 +200 '
fi
if [ -e "$tree/lib/libvgasnet.so" ]; then
    mkdir "$dir/nvm"
    "$cc" -O1 -I"$here/../include/hearth" "$here/tools/top/live_gas.c" -o "$dir/live_gas" -L"$tree/lib" -lvgasnet -Wl,-rpath,"$tree/lib" || exit 1
    run gas "${preload[@]}" --env HEARTH_NODE_RANKS=1 --env HEARTH_NVM_DIR="$dir/nvm" --env HEARTH_POOL_SIZE=2m --env HEARTH_PAGE_SIZE=64k "$dir/live_gas" "$dir/steps"
    check 'vGASNet: calls' has "$dir/gas.txt" '^get +0 +200 +12\.5 MB +64 KB$'
    check 'vGASNet: in short' has "$dir/gas.line" 'It made 300 calls of vGASNet with 18\.8 MB, 100 % of them to other nodes\.'
    if grep -q 'segments in pages' "$dir/gas.txt"; then
        check 'vGASNet: pages' has "$dir/gas.txt" '^fetched +[1-9]'
        check 'vGASNet: pages and NVM' has "$dir/gas.line" 'Pages have 64 KB; the pools have 4 MB in all, .* NVM: [0-9.]+ [KM]B read, [0-9.]+ [KM]?B written'
    fi
fi
exit $failed
