#!/usr/bin/env bash
# Tests segments with a name: they stay when the job ends, and a later job of the same shape finds them. Any other
# file in their place is refused, with the reason, and left unchanged. Segments without a name are removed however the
# job ends.
#   test_vgasnet_durable.sh MPI TREE      quick: openmpi; timeout: 300
set -uo pipefail
mpi=$1 tree=$(cd "$2" && pwd) failed=0
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"
. "$here/beside.sh"
[ -x "$tree/test/durable_gas" ] || { echo "libvgasnet has no pages here: xxHash is not installed" && exit 77; }
export OMPI_MCA_btl_vader_backing_directory=$dir # for Open MPI's own files: a killed launcher leaves them
[ "$mpi" != openmpi ] || export TMPDIR=$dir

begin() { # a folder of its own for a part of the test
    nvm=$dir/nvm
    mkdir "$nvm"
}

run() { # ranks, mode and its options; K=V... before them
    local env=()
    while [[ $1 == *=* ]]; do env+=(--env "$1") && shift; done
    "$here/launch.sh" "$mpi" "$1" --timeout 120 --env "HEARTH_NVM_DIR=$nvm" --env HEARTH_PAGE_SIZE=4k "${env[@]}" \
        "$tree/test/durable_gas" "${@:2}" --folder "$dir" >"$dir/out" 2>&1
}

good() { # name; K=V... ranks mode...
    local status=0
    run "${@:2}" || status=$?
    say "$1" $((status == 0))
}

# MPICH's launcher sometimes drops the last lines, so a test may be repeated.
refused() { # name, regular expression; K=V... ranks mode...
    local status
    for _ in 1 2 3; do
        status=0
        run "${@:3}" || status=$?
        ! grep -qE "$2" "$dir/out" || break
    done
    say "$1" $((status == 3 && $(grep -cE "hearth\[[0-9]\]: error: .*$2" "$dir/out") >= 1))
}

contents() { # of all files in the folder
    (cd "$nvm" && for f in *; do [ -L "$f" ] && readlink "$f" || cksum "$f"; done)
}

unchanged() { # name, contents before
    say "$1: nothing was changed" $(($([ "$2" = "$(contents)" ] && echo 1 || echo 0)))
}

one=HEARTH_NVM_NAME=one
is_quick() { [ "${HEARTH_TEST_TIER:-}" = quick ]; }

keep() { cp -p "$nvm/one.1" "$dir/kept"; }
put_back() { rm -rf "$nvm/one.1" && cp -p "$dir/kept" "$nvm/one.1"; }
damage() { # name, regular expression
    local before
    before=$(contents)
    refused "$1" "$2" $one 2 check --version 7
    unchanged "$1" "$before"
    put_back
}

start() { # K=V... ranks mode: in the background; writes the process ids of its ranks to $dir/pids
    local env=()
    while [[ $1 == *=* ]]; do env+=(--env "$1") && shift; done
    rm -f "$dir/ready"
    : >"$dir/pids"
    "$here/launch.sh" "$mpi" "$1" --timeout 120 --env "HEARTH_NVM_DIR=$nvm" --env HEARTH_PAGE_SIZE=4k "${env[@]}" \
        sh -c "echo \$\$ >>$dir/pids; exec $tree/test/durable_gas $2 --folder $dir ${*:3}" >"$dir/started" 2>&1 &
    job=$!
    wait_for test -e "$dir/ready" || { say "the job has started" 0 && sed 's/^/    | /' "$dir/started"; }
}

kill_all() {
    xargs -r kill -9 <"$dir/pids" 2>/dev/null
    wait $job
    wait_for no_rank_alive || say 'no rank is left' 0
}

run_info() { "$tree/bin/hearth" info --nvm "$1" >"$dir/out" 2>&1; }

empty() { # name
    say "nothing is left, $1" $(($(find "$nvm" -mindepth 1 | wc -l) == 0))
    rm -rf "${nvm:?}"/*
}

# Segments that are found, and files that are refused.
found_again() {
    begin
    for nodes in $(is_quick || echo 0) 1; do
        far=HEARTH_NODE_RANKS=$nodes other=HEARTH_NODE_RANKS=$((1 - nodes))
        good "written, ranks of a node: $nodes" $one $far 2 write --version 7
        say "only their user may see them" $(($(find "$nvm" -name 'one.[01]' -perm 0600 | wc -l) == 2 && $(ls "$nvm" | wc -l) == 2))
        is_quick || good "found, ranks of a node: $nodes" $one $far 2 check --version 7
        good "found, with other nodes: $((1 - nodes))" $one $other 2 check --version 7
        grep -q 'checkpoint [1-9]' "$dir/out"
        say "as a checkpoint" $((! $?))
        [ $nodes = 1 ] || rm -f "$nvm"/*
    done
    (cd "$dir" && nvm=nvm && good 'a relative folder belongs to where the program starts' $one 2 check --version 7 --move / && exit $failed) || failed=1
    good 'a checkpoint without a name' HEARTH_NVM_EPOCH=3 2 check --version 0
    say 'has no effect, says a line' $(($(grep -c '^hearth\[0\]: warning: HEARTH_NVM_EPOCH=3 has no effect' "$dir/out") == 1))
    good 'another name, of zeros' HEARTH_NVM_NAME=two 2 check --version 0
    rm -f "$nvm"/two.*

    # unit_pages_store_epochs.c has every shape and kind of damage that is refused. Of each, the quick tier tests one in a whole job.
    before=$(contents)
    refused 'another number of ranks' 'one\.[0-2]: it belongs to rank [01] of 2' $one 3 check
    if ! is_quick; then
        refused 'larger pages' 'bytes in pages of 4096, where this job has .* pages of 8192' $one HEARTH_PAGE_SIZE=8k 2 check
        refused 'larger segments' '196608 bytes in pages of 4096, where this job has .* 200704 bytes' $one 2 check --pages 49
        refused 'a name that begins with a point' 'begin with a dot' HEARTH_NVM_NAME=.one 2 check
        refused 'a name with a slash' 'a name must not .* contain a slash' HEARTH_NVM_NAME=a/one 2 check
        refused 'pages that are no power of 2' 'HEARTH_PAGE_SIZE=5000' HEARTH_PAGE_SIZE=5000 2 check --pages 4 --page 4096
    fi
    unchanged 'other shapes' "$before"

    keep
    if ! is_quick; then
        truncate -s 5000 "$nvm/one.1"
        damage 'cut within the header' 'one\.1: it is truncated'
        truncate -s 300000 "$nvm/one.1"
        damage 'cut within the pages' 'one\.1: it is truncated'
        for block in 0 1; do printf '\377' | dd of="$nvm/one.1" bs=1 seek=$((block * 4096 + 40)) conv=notrunc 2>/dev/null; done
        damage 'both headers damaged' 'one\.1: '
        for block in 0 1; do printf '\011' | dd of="$nvm/one.1" bs=1 seek=$((block * 4096 + 12)) conv=notrunc 2>/dev/null; done
        damage 'another version' 'one\.1: it was written by another version of Hearth'
        dd if=/dev/zero of="$nvm/one.1" bs=4096 count=2 conv=notrunc 2>/dev/null
        damage 'no header' 'one\.1: '
    fi
    rm "$nvm/one.1"
    damage 'one of them missing' 'the file of rank 0 exists and that of rank 1 does not'
    cp "$dir/kept" "$dir/elsewhere" && ln -sf "$dir/elsewhere" "$nvm/one.1"
    damage 'a link in its place' 'one\.1: .*Links are not followed'
    if ! is_quick; then
        rm "$nvm/one.1" && mkdir "$nvm/one.1"
        refused 'a folder in its place' 'one\.1: ' $one 2 check
    fi
    put_back

    # One valid header is enough: a file has two, the latest and the one before it.
    printf '\377' | dd of="$nvm/one.1" bs=1 seek=40 conv=notrunc 2>/dev/null
    good 'one header damaged' $one 2 check --version 7
    keep
    put_back

    # Files of two jobs that have the same name by chance.
    good 'another job of the same shape' HEARTH_NVM_NAME=two 2 write --version 8
    cp -p "$nvm/two.1" "$nvm/one.1"
    refused 'files of two jobs' 'the files of ranks 0 and 1 belong to different jobs' $one 2 check --version 7
    put_back
    is_quick || good 'all is as it was' $one 2 check --version 7
}

# Two jobs at a time, and jobs that are killed.
concurrent() {
    begin
    good 'written' $one 2 write --version 7
    start $one 2 hold --version 9
    refused 'two jobs with one name' 'another job has it open' $one 2 check --version 7
    kill_all
    good 'killed without a checkpoint: what was there before' $one 2 check --version 7
    grep -qE 'hearth\[0\]: warning: .*one.*did not end with success' "$dir/out"
    say 'and it is said' $((! $?))
    good 'written anew' $one 2 write --version 10
    good 'and found' $one 2 check --version 10
    ! grep -q 'did not end with success' "$dir/out"
    say 'of which nothing is said' $((! $?))

    start HEARTH_NVM_NAME=never 2 hold
    kill_all
    refused 'a job that never made a checkpoint' 'ended without a checkpoint' HEARTH_NVM_NAME=never 2 check
}

# Checkpoints while threads read.
checkpoints() {
    begin
    for nodes in 0 1; do
        good "checkpoints while threads read, ranks of a node: $nodes" $one HEARTH_NODE_RANKS=$nodes HEARTH_POOL_SIZE=128k 2 busy --version 10
        [ $nodes = 0 ] && is_quick || good 'and the last one is found' $one 2 check --version 16
    done
}

# Abnormal, separate and single ends.
ends() {
    begin
    run $one 2 bad_end --version 20
    say 'one rank ends with an error' $(($? == 6))
    good 'that leaves the checkpoint' $one 2 check --version 20
    run HEARTH_NVM_NAME=never 2 bad_end --version 1
    say 'an error before the first checkpoint' $(($? == 6 && $(find "$nvm" -name 'never.*' | wc -l) == 0))
    good 'ranks that end apart' $one 2 apart --version 30
    good 'have kept what the last one wrote' $one 2 check --version 31
    for _ in 1 2 3; do
        status=0
        run $one HEARTH_EXIT_TIMEOUT=1 2 end_alone --version 40 || status=$?
        ! grep -q 'HEARTH_EXIT_TIMEOUT' "$dir/out" || break
    done
    say 'one that ends alone' $((status != 0 && status != 124 && $(grep -cE 'error: gasnet_exit was called .*HEARTH_EXIT_TIMEOUT.* not kept' "$dir/out") == 1))
    good 'and leaves the checkpoint' $one 2 check --version 40
}

# Data that is changed in a file.
changed() {
    begin
    good 'two checkpoints' $one 2 two --version 50
    run_info "$nvm/one.1"
    say 'both are whole' $(($? == 0 && $(grep -cE '^ok +checkpoint [12]: 48 pages' "$dir/out") == 2))
    python3 - "$nvm/one.1" <<'END'
import struct, sys
file = open(sys.argv[1], "r+b")
data = file.read()
place = data.find(struct.pack("<QQQ", 1, 5, 51))  # of node 1, page 5, version 51
file.seek(place + 2000)
file.write(bytes([data[place + 2000] ^ 16]))
END
    run_info "$nvm/one.1"
    say 'the damage is found' $(($? == 1 && $(grep -cE '^BAD +checkpoint 2: 1 of 48 pages are damaged, the first is page 5' "$dir/out") == 1 &&
        $(grep -c 'HEARTH_NVM_EPOCH=1' "$dir/out") == 1))
    for _ in 1 2 3; do
        status=0
        run $one 2 check --version 51 || status=$?
        ! grep -q 'is damaged' "$dir/out" || break
    done
    say 'and not handed out' $((status != 0 && status != 124 &&
        $(grep -cE 'error: page 5 of the segment .*one\.1 is damaged: the 4096 bytes at offset [0-9]* .* checkpoint 2\..*HEARTH_NVM_EPOCH=1' "$dir/out") == 1))
    refused 'a checkpoint that is not there' 'does not hold checkpoint 7 .*it has 2 and 1' $one HEARTH_NVM_EPOCH=7 2 check --version 50
    good 'the one before is there' $one HEARTH_NVM_EPOCH=7 2 check --version 50 --open 1
    good 'and is the newest from then on' $one 2 check --version 50
}

# Segments without a name.
without_a_name() {
    begin
    good 'without a name' 2 write
    empty 'after the end'
    run 2 alone
    say 'one rank calls gasnet_exit' $(($? == 5))
    empty 'after gasnet_exit by one rank'
    start 2 hold
    kill -9 "$(head -n 1 "$dir/pids")"
    wait $job
    wait_for no_rank_alive || say 'no rank is left' 0
    empty 'after one rank was killed'
    start HEARTH_NODE_RANKS=1 2 hold
    launcher=$(ps -o ppid= -p "$(head -n 1 "$dir/pids")")
    kill -9 "$launcher" $(cat "$dir/pids")
    wait $job 2>/dev/null
    wait_for no_rank_alive || say 'no rank is left' 0
    empty 'after all were killed, and the launcher'
}

[ "$mpi" = openmpi ] || at_once=1 # the ranks of MPICH never yield their cores
for part in found_again concurrent checkpoints ends changed without_a_name; do beside $part; done
wait_beside
exit $failed
