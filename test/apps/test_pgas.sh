#!/usr/bin/env bash
# tier: full; timeout: 300
# Tests the C++ programs on GASNet-EX, dht and stencil: their results are right for any ranks and nodes, with segments in memory and on
# NVM, with pools that hold all or a quarter of the data; nodes that cooperate give pages to each other; bad options are refused.
#   test_pgas.sh MPI TREE
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
if [ ! -x "$tree/bin/dht" ] || [ ! -x "$tree/bin/stencil" ]; then
    echo "there was no C++ compiler (g++) when this was configured"
    exit 77
fi

right() { # NAME PROGRAM RANKS [K=V]... -- [OPTION]...: the program checks its results
    run_program "$2" "$1" "${@:3}"
    check "$1" ended "$1" 0
}

# 600 values of 1000 bytes; two grids of 120 x 120 cells, in 8 x 8 tiles of 15 x 15
keys=(--keys 600 --bytes 1000 --finds 400)
cells=(--cells 120 --tile 15 --steps 5)
right dht.1 dht 1 -- "${keys[@]}"
right dht.off dht 2 HEARTH_NVM=off -- "${keys[@]}"
right dht.off1 dht 4 HEARTH_NVM=off HEARTH_NODE_RANKS=1 -- "${keys[@]}"
right stencil.1 stencil 1 -- "${cells[@]}"
right stencil.off stencil 2 HEARTH_NVM=off -- "${cells[@]}"
right stencil.off1 stencil 4 HEARTH_NVM=off HEARTH_NODE_RANKS=1 -- "${cells[@]}"
for coop in on off; do
    small=(HEARTH_NODE_RANKS=1 HEARTH_COOP=$coop HEARTH_PAGE_SIZE=4k)
    right dht.$coop dht 4 "${small[@]}" HEARTH_POOL_SIZE=160k -- "${keys[@]}"
    right stencil.$coop stencil 4 "${small[@]}" HEARTH_POOL_SIZE=64k -- "${cells[@]}"
done
check 'the pools are too small' holds "$(value dht.on evicted)+0 > 0 && $(value stencil.on evicted)+0 > 0"
check 'nodes that cooperate give pages to each other' holds "$(value dht.on from_peers)+0 > 0 && $(value stencil.on from_peers)+0 > 0"
check 'and those that do not, do not' holds "$(value dht.off from_peers)+0 == 0 && $(value stencil.off from_peers)+0 == 0"
right stencil.odd stencil 3 HEARTH_NODE_RANKS=1 -- --cells 50 --tile 7 --steps 3
right stencil.tile stencil 2 -- --cells 9 --tile 9 --steps 4

check_refused dht '--keys 0' '--keys x' '--keys' '--unknown 5' 'word' '--bytes 5q'
run_program stencil help 2 HEARTH_NVM=off -- --help
check 'help' grep -q -- '--cells N' "$dir/help.out"
[ $failed = 0 ] || tail -n 12 "$dir"/*.out
exit $failed
