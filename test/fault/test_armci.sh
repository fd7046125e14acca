#!/usr/bin/env bash
# Tests ARMCI after errors of the program or the machine: one line names the call, the rank and the range, the job
# ends with an error within seconds, and nothing is left behind.   test_armci.sh MPI TREE      timeout: 240; waits: yes
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/own_shm.sh"
. "$(dirname "${BASH_SOURCE[0]}")/kill.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../launcher_status.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../beside.sh"

run() { # case, K=V...
    local name=$1 env=(--env HEARTH_TEST_CONFIG=fault)
    shift
    for e in "$@"; do env+=(--env "$e"); done
    "$here/launch.sh" "$mpi" 2 --timeout 120 "${env[@]}" "$tree/test/fault_armci" "$name" >"$dir/out" 2>&1
}

# The job must end with an error, soon, and one line must match.
ends() { # name, regular expression, case, K=V...
    local start status
    for _ in 1 2 3; do # MPICH's launcher sometimes drops the last lines
        start=$SECONDS status=0
        run "${@:3}" || status=$?
        ! grep -qE "$2" "$dir/out" || break
    done
    [ $status != 0 ] || ! loses_status "$mpi" || status=1
    say "$1" $((status != 0 && SECONDS - start <= most && $(grep -cE "$2" "$dir/out") == 1 &&
        ! $(grep -c 'the job went on' "$dir/out")))
}

# The job must succeed, and one line must match.
survives() { # name, regular expression, case, K=V...
    local status=0
    run "${@:3}" || status=$?
    say "$1" $((status == 0 && $(grep -cE "$2" "$dir/out") >= 1))
}

# The library finds these errors, whichever MPI is below. In the quick tier, if both are there, one has them on one node, the other on two.
far=HEARTH_NODE_RANKS=1 ways='near far' own=yes
if [ "${HEARTH_TEST_TIER:-}.${tree##*/}" = "quick.$mpi" ] && [ "$("$here/../packaging/mpis.sh" | wc -l)" = 2 ]; then
    case $mpi in openmpi) ways=far own='' ;; *) ways=near ;; esac
fi
[ "$mpi" = openmpi ] || at_once=1 # the ranks of MPICH never yield their cores
for way in $ways; do
    nodes=HEARTH_NODE_RANKS=$([ $way = far ] && echo 1 || echo 0)
    beside ends "wild address, $way" 'hearth\[1\]: error: ARMCI_Put: rank 0 has no ARMCI memory at 0x12345678' wild_address "$nodes"
    beside ends "beyond the allocation, $way" 'hearth\[1\]: error: ARMCI_Get: .* \(501 bytes\) of rank 0 is beyond' \
        beyond_the_allocation "$nodes"
    beside ends "a patch that ends beyond it, $way" 'error: ARMCI_PutS: .* \(1008 bytes\) of rank 0 is beyond' strided_beyond "$nodes"
    beside ends "no such rank, $way" 'error: ARMCI_Get: rank 2 does not exist; ranks are 0 \.\.\. 1' no_such_rank "$nodes"
    beside ends "freed memory, $way" 'error: ARMCI_Rmw: rank 0 has no ARMCI memory' after_free "$nodes"
    beside ends "unlock of what is not held, $way" 'ARMCI_Unlock: .*(does not hold)' unlock_of_what_is_not_held "$nodes"
    beside ends "no such mutex, $way" 'error: ARMCI_Lock: rank 0 has no mutex 2' no_such_mutex "$nodes"
    beside survives "too much memory, $way" 'hearth\[.\]: error: .*(70368744|memory|space)' too_much_memory "$nodes"
    beside survives "no descriptors, $way" 'error: .*[Tt]oo many open files' no_descriptors "$nodes"
done

if [ -n "$own" ]; then
    beside ends "wild address of the own rank" 'hearth\[1\]: error: ARMCI_Put: rank 1 has no ARMCI memory at 0x12345678' own_wild_address
    beside ends "beyond the own allocation" 'hearth\[1\]: error: ARMCI_Get: .* \(501 bytes\) of rank 1 is beyond' own_beyond_the_allocation
    beside ends "freed memory of the own rank" 'error: ARMCI_Rmw: rank 1 has no ARMCI memory' own_after_free
fi

case $ways in
*far*)
    beside ends 'buffers that do not fit' 'HEARTH_BUFFER_MEMORY allows' wild_address $far HEARTH_BUFFERS=1024 HEARTH_BUFFER_SIZE=16m
    little_locked() { ulimit -l 64 || failed=1; survives 'little locked memory' 'too_much_memory' too_much_memory $far; }
    beside little_locked
    ;;
esac
wait_beside

# A rank is killed: the others, or the launcher, end the job, and nothing is left.
both_talk() {
    [ "$(wc -l <"$dir/pids")" = 2 ] && [ "$(grep -c '^traffic of rank' "$dir/out")" = 2 ]
}
killed() { # name, K=V...
    local start status=0
    local env=(--env HEARTH_TEST_CONFIG=fault)
    for e in "${@:2}"; do env+=(--env "$e"); done
    : >"$dir/pids"
    "$here/launch.sh" "$mpi" 2 --timeout 120 "${env[@]}" \
        sh -c "echo \$\$ >>$dir/pids; exec $tree/test/fault_armci traffic_until_killed" >"$dir/out" 2>&1 &
    local job=$!
    wait_for both_talk || say "$1: there is traffic" 0
    start=$SECONDS
    kill -9 "$(head -n 1 "$dir/pids")"
    wait $job || status=$?
    [ $status != 0 ] || ! loses_status "$mpi" || status=1
    wait_for no_rank_alive || status=0
    say "$1" $((status != 0 && SECONDS - start <= most))
    [ -z "$(left_in_shm)" ] || say "$1: nothing in /dev/shm" 0
}
killed 'a killed rank, one node'
killed 'a killed rank, two nodes' $far
killed 'a killed rank, two nodes, over MPI' $far HEARTH_NET=mpi
exit $failed
