#!/usr/bin/env bash
# tier: full; timeout: 400
# Tests Barnes-Hut: bodies are bit-identical with any cache and number of ranks; forces agree
# with direct summation; and wrong forces, from too coarse a tree or from a cache that was not invalidated for a new
# tree, are detected.
#   test_barnes_hut.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$tree/bin/barnes-hut
tcp=(--tcp)
cached=(--preload "$tree/lib/libhearth-mpi.so")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

. "$here/tools/check_files.sh"

run() { # NAME RANKS [OPTION OF launch.sh]... -- [OPTION]...: writes exit status and output to $dir/NAME.*
    local name=$1 ranks=$2 launch=()
    shift 2
    while [ "$1" != -- ]; do launch+=("$1") && shift; done
    shift
    "$here/launch.sh" "$mpi" "$ranks" "${launch[@]}" --timeout 100 "$program" --json "$dir/$name.json" "$@" >"$dir/$name.out" 2>&1
    echo $? >"$dir/$name.status"
}

value() { # NAME FIELD
    sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$dir/$1.json" | head -n 1
}

ended() { # NAME STATUS
    [ "$(cat "$dir/$1.status")" = "$2" ]
}

same() { # NAME NAME
    [ -n "$(value "$1" checksum)" ] && [ "$(value "$1" checksum)" = "$(value "$2" checksum)" ]
}

above() { # NAME FIELD LEAST
    awk -v a="$(value "$1" "$2")" -v least="$3" 'BEGIN { exit !(a != "" && a + 0 > least) }'
}

says() { # NAME WORDS: the program prints exactly one line, with these words
    [ "$(grep -c '^barnes-hut: ' "$dir/$1.out")" = 1 ] && grep -q "^barnes-hut: .*$2" "$dir/$1.out"
}

some=(--bodies 150 --steps 2 --verify 150)
run one 1 -- "${some[@]}"
run none 2 "${tcp[@]}" -- "${some[@]}" --cache none
run blocks 2 "${tcp[@]}" -- "${some[@]}" --cache blocks --cache-memory 2k --block 256
run hearth 2 "${tcp[@]}" "${cached[@]}" -- "${some[@]}" --cache hearth
run three 3 "${cached[@]}" --env HEARTH_BYPASS=never -- "${some[@]}" --cache hearth --layout scattered
run small 2 "${tcp[@]}" "${cached[@]}" --env HEARTH_CACHE_SIZE=2k --env HEARTH_ADAPT=off -- "${some[@]}"
run unused 2 "${tcp[@]}" "${cached[@]}" -- "${some[@]}" --cache none
for name in one none blocks hearth three small unused; do
    check "$name: forces as by direct summation" ended $name 0
    check "$name: the same bodies as on one rank" same $name one
done
check 'the energy is kept' awk -v d="$(value none energy_drift_most)" 'BEGIN { exit !(d != "" && d < 0.01) }'
check 'the cache serves' above hearth hit_ratio 0.8
check 'and is told of the second and third tree, on both ranks' above hearth invalidations 3
check 'one that is too small serves too' above small hit_ratio 0.1
check 'blocks serve' above blocks hit_ratio 0.1
check 'a cache that is not asked for does nothing' sh -c "! grep -q full_hits '$dir/unused.json'"

run coarse 2 -- "${some[@]}" --theta 1.9
check 'forces of too coarse a tree are found' ended coarse 1
check 'and it is said' says coarse 'wrong by'
run stale 2 "${tcp[@]}" "${cached[@]}" -- "${some[@]}" --cache hearth --no-invalidate --dt 0.1
check 'forces of a cache that was not told are found' ended stale 1
run fresh 2 "${tcp[@]}" "${cached[@]}" -- "${some[@]}" --cache hearth --dt 0.1
check 'and are right if it was' ended fresh 0

run tuned 2 -- "${some[@]}" --cache blocks --cache-memory 8k
check 'a block size is found' grep -q '^block size  *[0-9]* bytes' "$dir/tuned.out"
check 'which changes nothing' same tuned one

run exact 3 -- --bodies 60 --verify 60 --theta 0 --tolerance 1e-12
check 'no cell is taken for a point: direct summation itself' ended exact 0
run places 2 -- --bodies 100 --model coincident --verify 100 --cache blocks --block 64 --cache-memory 1k
check 'many bodies in few places' ended places 0
run places1 1 -- --bodies 100 --model coincident --verify 100
check 'the same on one rank' same places places1
run few 3 -- --bodies 2 --verify 2
check 'more ranks than bodies' ended few 0
run lone 2 -- --bodies 1 --verify 1
check 'one body' ended lone 0
run empty 2 -- --bodies 0 --verify 1 --picture "$dir/empty.svg"
check 'no body' ended empty 0

run picture 1 -- --bodies 500 --steps 0 --model collision --picture "$dir/bodies.ppm"
check 'a picture' sh -c "[ \"\$(head -c 2 '$dir/bodies.ppm')\" = P6 ] && [ \"\$(wc -c <'$dir/bodies.ppm')\" = $((15 + 720 * 720 * 3)) ]"
ln -s /dev/full "$dir/full.ppm"
run full 1 -- --bodies 10 --steps 0 --picture "$dir/full.ppm"
check 'a full disk' ended full 1
check 'is said' says full 'No space left'

bad=0
for option in '--bodies x' '--theta 3' '--block 100' '--block 4k --cache-memory 4k' '--cache some' '--picture a.png' '--unknown' '--json /nowhere/a'; do
    # shellcheck disable=SC2086
    run bad 1 -- $option
    ended bad 2 && says bad . || { echo "not refused in one line: $option" && bad=1; }
done
check 'bad options are refused in one line' [ $bad = 0 ]
run unloaded 2 -- --cache hearth
check 'the library is not loaded: how to' says unloaded LD_PRELOAD
check 'and exit status 2' ended unloaded 2
[ $failed = 0 ] || tail -n 20 "$dir"/*.out
exit $failed
