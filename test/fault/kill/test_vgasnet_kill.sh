#!/usr/bin/env bash
# Kills all ranks of jobs that make checkpoints, at random moments. The next job finds the same complete checkpoint on
# all ranks, not older than the last one that completed, and continues until it is killed in turn. The program
# (test/gas/job/durable.c, mode loop) checks this itself: every page holds its rank, epoch and run.
#   test_vgasnet_kill.sh MPI TREE [KILLS [SEED]]      quick: openmpi; timeout: 300, for 20 kills; HEARTH_TEST_KILLS sets the number
set -uo pipefail
mpi=$1 tree=$2 kills=${3:-${HEARTH_TEST_KILLS:-20}} seed=${4:-$RANDOM}
unset HEARTH_TEST_KILLS
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"
[ -x "$tree/test/durable_gas" ] || { echo "libvgasnet has no pages here: xxHash is not installed" && exit 77; }
[ $# -ge 3 ] || [ "$kills" -gt 20 ] || [ "$mpi" = openmpi ] || kills=$((kills / 4)) # short runs make most kills on one MPI
export OMPI_MCA_btl_vader_backing_directory=$dir
echo "$kills kills, seed $seed"
RANDOM=$seed

fail() { # reason
    echo "FAIL $1 (seed $seed, kill $number)"
    cat "$dir/wrong" 2>/dev/null
    sed 's/^/    | /' "$dir/out"
    exit 1
}

checkpoints() { # the number that completed
    [ ! -s "$dir/progress" ] || od -An -j8 -N8 -tu8 "$dir/progress" | tr -d ' '
}

all_started() {
    [ "$(wc -l <"$dir/pids")" = $ranks ]
}

is_over() {
    ! kill -0 $job 2>/dev/null
}

ready_or_over() {
    [ -e "$dir/ready" ] || is_over
}

# A job may find no checkpoint only if none completed.
begin_anew() {
    grep -qE 'ended without a checkpoint|exists and that of rank|is truncated' "$dir/out" &&
        [ $(($(checkpoints) + 0)) = 0 ] || fail "the job could not begin"
    rm -f "$dir"/nvm/* "$dir/lives" "$dir/progress"
}

one_life() {
    rm -f "$dir/ready"
    : >"$dir/pids"
    "$here/launch.sh" "$mpi" $ranks --timeout 120 "${env[@]}" \
        sh -c "echo \$\$ >>$dir/pids; exec $tree/test/durable_gas loop --folder $dir" >"$dir/out" 2>&1 &
    job=$!
    wait_for all_started || fail "no ranks"
    [ $((RANDOM % 8)) = 0 ] || wait_for ready_or_over || fail "it takes too long to begin"
    sleep "0.$(printf %03d $((RANDOM % 150)))"
    kill -9 $(shuf --random-source=<(yes $RANDOM) "$dir/pids") 2>/dev/null
    wait $job 2>/dev/null
    wait_for no_rank_alive || fail "ranks are left"
    [ ! -e "$dir/wrong" ] || fail "what was found is wrong"
    ! grep -q 'gasnet_attach: ' "$dir/out" || begin_anew
}

# Repeated kills on the same files.
row() { # kills, ranks, K=V...
    local ranks=$2 made=0 e env=(--env "HEARTH_NVM_DIR=$dir/nvm" --env HEARTH_NVM_NAME=row --env HEARTH_PAGE_SIZE=4k)
    for e in "${@:3}"; do env+=(--env "$e"); done
    rm -rf "$dir/nvm" "$dir/lives" "$dir/progress"
    mkdir "$dir/nvm"
    for ((i = 0; i < $1; i++, number++)); do
        one_life
        made=$(checkpoints)
    done
    echo "ok $2 ranks ${*:3}: $1 kills, ${made:-0} checkpoints"
    total=$((total + ${made:-0}))
}

number=1 total=0
quarter=$((kills / 4))
row $((kills - 3 * quarter)) 2 HEARTH_POOL_SIZE=128k
[ $quarter = 0 ] || row $quarter 2 HEARTH_NODE_RANKS=1 HEARTH_POOL_SIZE=128k
[ $quarter = 0 ] || row $quarter 3 HEARTH_NODE_RANKS=2 HEARTH_WRITE_BACK=dram HEARTH_NVM_ENGINE=threads HEARTH_POOL_SIZE=256k
[ $quarter = 0 ] || row $quarter 2 HEARTH_NODE_RANKS=1 HEARTH_COOP=off HEARTH_POOL_SIZE=1m
[ $total -gt 0 ] || fail "no checkpoint was ever made"
echo "$total checkpoints"
