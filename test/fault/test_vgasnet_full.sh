#!/usr/bin/env bash
# Tests folders that are full, missing or not writable, and disks that fail. gasnet_attach and vgasnet_checkpoint
# return an error; gets that cannot be read end the job, and so do puts when memory is full of data that cannot be
# written. Each prints a line that names the file or folder and the remedy, and the data is never wrong.
#   test_vgasnet_full.sh MPI TREE      quick: openmpi; timeout: 240
set -uo pipefail
mpi=$1 tree=$2 failed=0
[ -x "$tree/test/durable_gas" ] || { echo "libvgasnet has no pages here: xxHash is not installed" && exit 77; }
if [ -z "${HEARTH_TEST_INSIDE:-}" ]; then # with private mounts, which disappear with this process
    unshare --mount true 2>/dev/null || { echo "file systems cannot be mounted here: not root" && exit 77; }
    HEARTH_TEST_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
unset HEARTH_TEST_INSIDE
. "$(dirname "${BASH_SOURCE[0]}")/kill.sh"
nvm=$dir/nvm
mkdir "$nvm"
trap 'umount "$nvm" 2>/dev/null; rm -rf "$dir"' EXIT
mount -t tmpfs -o size=600k none "$nvm" || { echo "no file system can be mounted here" && exit 77; }

status=0
run() { # ranks, mode and its options; K=V... before them
    local env=()
    while [[ $1 == *=* ]]; do env+=(--env "$1") && shift; done
    status=0
    "$here/launch.sh" "$mpi" "$1" --timeout 120 --env "HEARTH_NVM_DIR=$nvm" --env HEARTH_PAGE_SIZE=4k "${env[@]}" \
        "$tree/test/durable_gas" "${@:2}" --folder "$dir" >"$dir/out" 2>&1 || status=$?
}

errors() { # counts error lines of our library, except those of nodes that have lost their peer
    grep -aE 'hearth\[[0-9]\]: error: ' "$dir/out" | grep -avc 'cannot be reached'
}

no_wrong_data() {
    [ ! -e "$dir/wrong" ] || { say 'no wrong data' 0 && rm "$dir/wrong"; }
}

# Status not 0, not ended by the time limit, and with a line; MPICH's launcher sometimes drops the last lines.
nodes=1 # number of nodes; each may print the line
ends() { # name, regular expression; K=V... ranks mode...
    for _ in 1 2 3; do
        find "$nvm" -mindepth 1 -delete 2>/dev/null
        ${meanwhile:-true}
        run "${@:3}"
        ! grep -aqE "hearth\[[0-9]\]: error: .*$2" "$dir/out" || break
    done
    say "$1" $((status != 0 && status != 124 && $(grep -acE "hearth\[[0-9]\]: error: .*$2" "$dir/out") >= 1 && $(errors) <= nodes))
    no_wrong_data
}

returns() { # name, regular expression; K=V... ranks mode...
    ends "$@"
    say "$1: an error of gasnet_attach" $((status == 3 && $(grep -ac 'gasnet_attach: GASNET_ERR_RESOURCE' "$dir/out") == 1))
}

named=HEARTH_NVM_NAME=full little=HEARTH_POOL_SIZE=128k
is_quick() { [ "${HEARTH_TEST_TIER:-}" = quick ]; }

# ---- full ----

# There is space for the pages, but not for two versions of them; the data of the last checkpoint is still there.
for nodes in 1 2; do
    far=HEARTH_NODE_RANKS=$((2 / nodes))
    ends "full at the second version, $nodes nodes" \
        "segment $nvm/full\.[01]: No space left on device.*HEARTH_NVM_DIR" $named $far $little 2 two --pages 64 --version 4
    grep -aq 'checkpoint of version 4' "$dir/out" || say 'the first checkpoint was made' 0
    mount -o remount,size=4m "$nvm"
    run $named $far $little 2 any --pages 64
    say 'with more room: what the checkpoint had' $((status == 0 && $(grep -ac 'found version 4' "$dir/out") == 1))
    find "$nvm" -mindepth 1 -delete
    mount -o remount,size=600k "$nvm"
done
nodes=1

# The pool holds all data: a checkpoint without space returns an error and nothing else, and succeeds when there is
# space.
make_room() { # when the job waits for it
    (wait_for test -e "$dir/ready" && mount -o remount,size=4m "$nvm" && touch "$dir/go") &
}
for far in 2 1; do
    for back in nvm dram; do
        ! is_quick || [ $far$back = 2nvm ] || [ $far$back = 1dram ] || continue
        rm -f "$dir/ready" "$dir/go"
        make_room
        run $named HEARTH_NODE_RANKS=$far HEARTH_WRITE_BACK=$back 2 full --pages 64 --version 4
        wait
        say "full at a checkpoint, write back to $back, $far ranks on a node: the job goes on" \
            $((status == 0 && $(grep -acE "hearth\[[0-9]\]: error: cannot reserve room for page [0-9]* of the segment $nvm/full\.[01]: No space left on device. Free some" "$dir/out") >= 1))
        run $named HEARTH_NODE_RANKS=$far 2 any --pages 64
        say 'what was there at last' $((status == 0 && $(grep -ac 'found version 5' "$dir/out") == 1))
        no_wrong_data
        find "$nvm" -mindepth 1 -delete
        mount -o remount,size=600k "$nvm"
    done
done

# Others fill the disk after the job has begun: there was space for the segments. Data that cannot be written stays in
# memory, as long as that suffices.
dd if=/dev/zero of="$dir/half" bs=1k count=300 2>/dev/null
dd if=/dev/zero of="$dir/most" bs=1k count=560 2>/dev/null
fill() { # while the job runs, once it is ready
    rm -f "$dir/ready" "$dir/go"
    (wait_for test -e "$dir/ready" && cp "$dir/${1:-most}" "$nvm/others" && touch "$dir/go") &
}
for nodes in 1 2; do
    fill half
    run HEARTH_NODE_RANKS=$((2 / nodes)) $little 2 late --pages 64
    wait
    say "a temporary segment, full, $nodes nodes: the job goes on" $((status == 0 && $(errors) == 0 &&
        $(grep -acE "warning: cannot write page [0-9]* of the temporary segment of rank [01] in $nvm: No space left on device; it stays in memory" "$dir/out") >= 1))
    no_wrong_data
    find "$nvm" -mindepth 1 -delete
done
nodes=1
meanwhile=fill
ends 'a temporary segment, full' "temporary segment of rank [01] in $nvm: No space left on device.*HEARTH_NVM_DIR" $little 2 late --pages 64
meanwhile=
wait
find "$nvm" -mindepth 1 -delete

# No space even for the tables of both: nothing is left behind.
mkdir "$dir/small"
mount -t tmpfs -o size=28k none "$dir/small"
returns 'full before the beginning' 'segment .*full\.[01]: .*(No space left on device|room for)' \
    $named "HEARTH_NVM_DIR=$dir/small" 2 write --pages 1
say 'full before the beginning: nothing is left' $(($(find "$dir/small" -mindepth 1 | wc -l) == 0))
umount -l "$dir/small"

# ---- a disk that fails, at the n-th request and from there on (unit_pages_faults tests all requests, without MPI)
# ----

faults=('--fail 20,5' '--later 60,28')
is_quick || faults+=('--fail 5,5' '--later 3,5' '--later 140,5' '--later 300,5')
for fault in "${faults[@]}"; do
    find "$nvm" -mindepth 1 -delete
    run $named $little 2 two --pages 20 $fault
    made=$(grep -ac 'checkpoint of version' "$dir/out")
    say "$fault" $((status != 0 && status != 124 && $(errors) >= 1 || status == 0 && $(errors) == 0 && made == 2))
    run $named $little 2 any --pages 20
    say "$fault: what is left" $((status == 0 || status == 3 && made == 0))
    no_wrong_data
done
find "$nvm" -mindepth 1 -delete

# ---- folders ----

run "HEARTH_NVM_DIR=$dir/none" 2 write --pages 1
say 'no folder' $((status == 3 && $(grep -acE "hearth\[[0-9]\]: error: .* $dir/none .*No such file or directory.*HEARTH_NVM_DIR" "$dir/out") >= 1))
run "HEARTH_NVM_DIR=$dir/none" HEARTH_NODE_RANKS=1 2 write --pages 1
say 'one line for all nodes' $((status == 3 && $(grep -ac "^hearth.*$dir/none" "$dir/out") == 1))
returns 'a file in its place' "cannot open the folder $dir/half for segments: Not a directory" "HEARTH_NVM_DIR=$dir/half" 2 write --pages 1
wait_for mount -o remount,ro "$nvm" 2>/dev/null # when no rank that writes is left
returns 'not writable' "Read-only file system.*HEARTH_NVM_DIR" 2 write --pages 1
returns 'not writable, with a name' "Read-only file system.*HEARTH_NVM_DIR" $named 2 write --pages 1
mount -o remount,rw "$nvm"
exit $failed
