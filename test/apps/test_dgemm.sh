#!/usr/bin/env bash
# tier: full; timeout: 400
# Tests dgemm: products are right to rounding, for any ranks, nodes, tiles and groups, with
# segments in memory and on NVM, with pools that hold all or part of the data; and a wrong product is detected.
#   test_dgemm.sh MPI TREE
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"
if [ ! -x "$tree/bin/dgemm" ]; then
    echo "OpenBLAS is not installed (libopenblas-dev), or was not when this was configured"
    exit 77
fi

run() { # NAME RANKS [K=V]... -- [OPTION]...
    run_program dgemm "$@"
}

right() { # NAME RANKS [K=V]... -- [OPTION]...
    run "$@" --verify
    check "$1" ended "$1" 0
    [ -n "$(value "$1" error)" ] && holds "$(value "$1" error) < 1" || { echo "FAIL $1: not verified" && failed=1; }
}

# 190 elements in tiles of 32 and 64, the last ones smaller; the segments have 18 pages of 64 KB in total, or more of
# 4 KB
right off1 1 HEARTH_NVM=off -- --size 190 --block 64
right off2 2 HEARTH_NVM=off -- --size 190 --block 64 --grid 2x1 --local load
right off4 4 HEARTH_NVM=off HEARTH_NODE_RANKS=1 -- --size 190 --block 32 --group 2x1
right nvm1 1 -- --size 190 --block 64 --repeats 2
right load1 1 -- --size 190 --block 64 --repeats 2 --local load
right nvm2 2 -- --size 190 --block 64
right nvm4 4 HEARTH_NODE_RANKS=2 -- --size 190 --block 64 --grid 1x4 --local load
small=(HEARTH_PAGE_SIZE=4k HEARTH_POOL_SIZE=400k)
right pool1 1 "${small[@]}" -- --size 190 --block 32 --group 2x2
right poolload1 1 "${small[@]}" -- --size 190 --block 32 --group 2x2 --local load
for coop in on off; do
    right "nodes2.$coop" 2 HEARTH_NODE_RANKS=1 HEARTH_COOP=$coop -- --size 190 --block 64 --repeats 2
    right "pool2.$coop" 2 HEARTH_NODE_RANKS=1 HEARTH_COOP=$coop "${small[@]}" -- --size 190 --block 32 --group 1x2 --local load
    right "pool4.$coop" 4 HEARTH_NODE_RANKS=1 HEARTH_COOP=$coop "${small[@]}" -- --size 190 --block 32 --group 2x1
done
check 'small pools are too small' holds "$(value pool1 evicted)+0 > 0 && $(value poolload1 evicted)+0 > 0 && $(value pool2.on evicted)+0 > 0"
check 'nodes that cooperate give pages to each other' holds "$(value nodes2.on from_peers)+0 > 0 || $(value pool4.on from_peers)+0 > 0"
check 'and those that do not, do not' holds "$(value nodes2.off from_peers)+0 == 0 && $(value pool4.off from_peers)+0 == 0"
check 'loads and stores take pages' holds "$(value load1 faults)+0 > 0 && $(value poolload1 write_faults)+0 > 0 && $(value nvm1 faults)+0 == 0"
check 'small matrices are compared element by element' [ "$(value off1 compared)" = $((190 * 190)) ]
right large 2 HEARTH_NODE_RANKS=1 -- --size 601 --block 100
check 'large ones are not' [ "$(value large compared)" = 0 ]
right one 2 -- --size 1 --block 8
right few 4 -- --size 20 --block 16 --grid 4x1
right odd 2 HEARTH_NODE_RANKS=1 -- --size 101 --block 7 --group 5x3

run spoilt 2 -- --size 190 --block 64 --verify --spoil
check 'a wrong element is found' ended spoilt 1
check 'and it is said' says dgemm spoilt 'C is wrong'
run spoilt 2 HEARTH_NVM=off -- --size 601 --block 64 --verify --spoil
check 'by vectors alone too' ended spoilt 1

run csv 2 HEARTH_NVM=off -- --size 100 --report csv
check 'a line for tables' sh -c "[ \"\$(grep -c '^ranks,.*gflops' '$dir/csv.out')\" = 1 ] && grep -q '^2,1,2,100,256,1,' '$dir/csv.out'"
run short 1 HEARTH_NVM=off -- --siz=100 --blo 50 --quiet --quiet
check 'short names of options' [ "$(value short size),$(value short block)" = 100,50 ]
run quiet 1 HEARTH_NVM=off -- --size 100 --quiet
check 'quiet' [ ! -s "$dir/quiet.out" ]
run help 2 -- --help
check 'help' sh -c "[ \"\$(grep -c '^Usage: ' '$dir/help.out')\" = 1 ] && [ \"\$(cat '$dir/help.status')\" = 0 ]"

check_refused dgemm '--size 0' '--size x' '--block 0' '--grid 3x1' '--grid 2' '--group 0x1' '--group 1x' '--local some' '--report xml' '--spoil' \
    '--unknown' '--s 5' '--size' '--quiet=1' '--size 10k' 'word' '--size 1000000' '--json /nowhere/a'
[ $failed = 0 ] || tail -n 12 "$dir"/*.out
exit $failed
