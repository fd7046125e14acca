#!/usr/bin/env bash
# tier: full; timeout: 600
# Tests halo exchanges: cells are bit-identical with and without Hearth's matching, on any
# path and number of ranks; the numbers of messages and of queued receives are those of Table 1; and wrong results are
# detected.
#   test_halo.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$tree/bin/halo
tcp=(--tcp)
hearth=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

. "$here/tools/check_files.sh"

run() { # NAME RANKS [OPTION OF launch.sh]... -- MODE [OPTION]...: writes exit status and output to $dir/NAME.*
    local name=$1 ranks=$2 launch=()
    shift 2
    while [ "$1" != -- ]; do launch+=("$1") && shift; done
    shift
    "$here/launch.sh" "$mpi" "$ranks" ${launch[@]+"${launch[@]}"} --timeout 60 "$program" "$1" --json "$dir/$name.json" "${@:2}" \
        >"$dir/$name.out" 2>&1
    echo $? >"$dir/$name.status"
}

value() { # NAME FIELD: of the first object that has the field
    sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$dir/$1.json" | head -n 1
}

ended() { # NAME STATUS
    [ "$(cat "$dir/$1.status")" = "$2" ]
}

same() { # NAME NAME
    [ -n "$(value "$1" checksum)" ] && [ "$(value "$1" checksum)" = "$(value "$2" checksum)" ]
}

counts() { # NAME RECEIVERS SENDERS LENGTH
    [ "$(value "$1" receivers),$(value "$1" senders),$(value "$1" length)" = "$2,$3,$4" ]
}

says() { # NAME WORDS: the program prints exactly one line on stderr, with these words
    [ "$(grep -c '^halo[a-z ]*: ' "$dir/$1.out")" = 1 ] && grep -q "^halo[a-z ]*: .*$2" "$dir/$1.out"
}

# ---- with and without, on one to four ranks ----

options_of() { # MODE RANKS
    case $1 in
    stencil) echo stencil --block 4x3x2 --cells 3 --steps 3 --threads "$2" ;;
    flat) echo stencil --block 5x4 --stencil 9pt --steps 3 --threads 3 ;;
    cg) echo cg --grid 9x8x7 --pad 300 ;;
    periodic) echo cg --grid 9x8x7 --pad 300 --periodic ;;
    fds) echo fds --meshes 4x3x5 --cells 3 --fields 3 --steps 3 ;;
    esac
}

ranks_of() { # MODE: one rank and four are enough for flat stencils, where only the blocks differ
    [ "$1" = flat ] && echo 1 4 || echo 1 2 3 4
}

for mode in stencil flat cg periodic fds; do
    for ranks in $(ranks_of $mode); do
        name=$mode.$ranks
        # shellcheck disable=SC2046
        run "$name" $ranks -- $(options_of $mode $ranks)
        # shellcheck disable=SC2046
        run "$name.hearth" $ranks "${hearth[@]}" -- $(options_of $mode $ranks)
        check "$name: right" ended "$name" 0
        check "$name: right with Hearth" ended "$name.hearth" 0
        check "$name: the same with and without" same "$name" "$name.hearth"
    done
done
for ranks in 2 3 4; do
    check "fds: the same on $ranks ranks as on one" same fds.$ranks fds.1
done
check 'cg: 26 messages on a periodic grid' [ "$(value periodic.1 messages),$(value periodic.3 messages)" = 26,26 ]
check 'cg: as many iterations on four ranks as on one' [ "$(value cg.4 iterations)" = "$(value cg.1 iterations)" ]

# ---- other paths and queues ----

for mode in stencil cg fds; do
    # shellcheck disable=SC2046
    run $mode.tcp 4 "${tcp[@]}" "${hearth[@]}" -- $(options_of $mode 4)
    # shellcheck disable=SC2046
    run $mode.list 4 "${hearth[@]}" --env HEARTH_MATCH_QUEUE=list --env HEARTH_MATCH_NODE=off -- $(options_of $mode 4)
    for way in tcp list; do
        check "$mode: right over another way ($way)" ended $mode.$way 0
        check "$mode: and the same" same $mode.$way $mode.4
    done
done
for way in node tcp; do
    launch=()
    [ $way = node ] || launch=("${tcp[@]}" --env HEARTH_MATCH_NODE=off)
    run new.$way 4 ${launch[@]+"${launch[@]}"} "${hearth[@]}" --env HEARTH_REPORT="$dir/new.json" -- fds --meshes 4x3x5 --cells 3 --fields 3 --steps 3 --requests new
    check "fds: the same with new requests ($way)" same new.$way fds.1
done
check 'whose messages leave one at a time' [ "$(value new batched)" = 0 ]
run together 4 "${tcp[@]}" "${hearth[@]}" --env HEARTH_MATCH_NODE=off --env HEARTH_REPORT="$dir/report.json" -- fds --meshes 4x3x5 --cells 3 --fields 3 --steps 3
check 'those of persistent ones leave together' [ "$(value report batched)" -gt 0 ]
run along 3 "${hearth[@]}" -- fds --meshes 4x3x5 --cells 3 --fields 3 --steps 3 --numbering along
check 'fds: however the meshes are numbered' same along fds.1
run seeds 2 "${hearth[@]}" -- stencil --block 4x3x2 --cells 3 --steps 3 --seed 77 --threads 5
check 'stencil: in whatever order the threads come' same seeds stencil.2
run tiny 1 -- fds --meshes 1x1x1 --cells 1 --fields 1 --steps 2
check 'fds: a mesh that is its own neighbour' ended tiny 0
run none 2 "${hearth[@]}" -- stencil --block 1x1x1 --cells 1 --steps 0
check 'stencil: no step' ended none 0
run bare 3 "${hearth[@]}" -- cg --grid 3x1x1 --pad 0
check 'cg: an unknown for each rank' ended bare 0

# ---- Table 1 ----

while read -r block points receivers senders length; do
    run table 1 -- stencil --block "$block" --stencil "$points" --cells 1 --steps 1
    check "Table 1: $block, $points" ended table 0
    check 'as many threads and messages' counts table "$receivers" "$senders" "$length"
done <<'END'
32x32 5pt 124 128 128
64x32 5pt 188 192 192
32x32 9pt 124 132 380
64x32 9pt 188 196 572
8x8x4 7pt 184 256 256
1x1x128 7pt 128 514 514
1x1x256 7pt 256 1026 1026
8x8x4 27pt 184 344 2072
1x1x128 27pt 128 1042 3074
1x1x256 27pt 256 2066 6146
END
run queue 2 "${hearth[@]}" --env HEARTH_REPORT="$dir/report.json" -- stencil --steps 2
check 'all receives wait at once in the queue of Hearth' [ "$(value report posted_most)" = 2072 ]
check 'and no message comes before its receive' [ "$(value report unexpected)" = 0 ]
run padded 2 "${hearth[@]}" --env HEARTH_REPORT="$dir/report.json" -- cg --grid 6x6x6 --pad 1000
check 'cg: the queue is as long as its padding' [ "$(value report posted_most)" -ge 1000 ]

# ---- errors ----

for mode in stencil fds; do
    # shellcheck disable=SC2046
    run wrong 2 -- $(options_of $mode 2) --no-unpack
    check "$mode: rims that are not filled are found" ended wrong 1
    check 'and it is said' says wrong 'wrong result: the largest error'
    check 'in the file of results too' [ "$(value wrong result),$(value $mode.2 result)" = wrong,right ]
done
run wrong 2 -- cg --grid 9x8x7 --iterations 2
check 'cg: a solution that is none is found' ended wrong 1
check 'and it is said' says wrong 'wrong result: the residual'

bad=0
while read -r line; do
    # shellcheck disable=SC2086
    run bad 1 -- $line
    ended bad 2 && says bad . || { echo "not refused in one line: $line" && bad=1; }
done <<'END'
nothing
stencil --block 8x8
stencil --block 8x8x4 --stencil 9pt
stencil --block 200x200x200
stencil --stencil 8pt
stencil --pad 3
cg --grid 8x8x5000
cg --pad x
cg surplus
fds --meshes 99999999999999999999x1x1
fds --fields 0
fds --numbering random
fds --requests old
fds --json /nowhere/file
END
check 'bad options are refused in one line' [ $bad = 0 ]
run crowded 2 -- cg --grid 1x1x1
check 'more ranks than unknowns are refused' ended crowded 2
"$here/launch.sh" "$mpi" 1 "$program" >"$dir/nothing.out" 2>&1
check 'without a mode: exit status 2' [ $? = 2 ]
"$here/launch.sh" "$mpi" 2 "$program" --help >"$dir/help.out" 2>&1
check '--help' [ "$?,$(grep -c '^Usage: ' "$dir/help.out")" = 0,1 ]
for mode in stencil cg fds; do
    "$here/launch.sh" "$mpi" 2 "$program" $mode --help >"$dir/help.out" 2>&1
    check "$mode --help" [ "$?,$(grep -c "^Usage: .* $mode " "$dir/help.out")" = 0,1 ]
done
ln -s /dev/full "$dir/full.json"
run full 1 -- fds --meshes 2x2x2 --steps 1
check 'a full disk' ended full 1
check 'is said' says full 'No space left'
[ $failed = 0 ] || tail -n 20 "$dir"/*.out
exit $failed
