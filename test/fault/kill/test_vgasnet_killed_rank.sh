#!/usr/bin/env bash
# Kills one rank while all put and get. Its pages may be lost, so the job ends within seconds, with an error and
# nothing left behind: no process, nothing in /dev/shm, no file. The rank matters: the first of a node runs the
# service for all of them.   test_vgasnet_killed_rank.sh MPI TREE      quick: openmpi; timeout: 200
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/../own_shm.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"
[ -x "$tree/test/durable_gas" ] || { echo "libvgasnet has no pages here: xxHash is not installed" && exit 77; }
mkdir "$dir/nvm"

# The environment of a process holds its rank.
rank='${OMPI_COMM_WORLD_RANK:-$PMI_RANK}'
pid_of() { # rank
    sed -n "s/^$1 //p" "$dir/ranks"
}
all_started() {
    [ "$(wc -l <"$dir/ranks")" = "$ranks" ]
}

killed() { # name, ranks, rank to kill, regular expression of a line or '', K=V...
    local ranks=$2 start status=0 e env=(--env "HEARTH_NVM_DIR=$dir/nvm" --env HEARTH_PAGE_SIZE=4k --env HEARTH_POOL_SIZE=1m)
    for e in "${@:5}"; do env+=(--env "$e"); done
    rm -f "$dir/ready"
    : >"$dir/ranks"
    "$here/launch.sh" "$mpi" "$ranks" --timeout 120 "${env[@]}" \
        sh -c "echo $rank \$\$ >>$dir/ranks; exec $tree/test/durable_gas storm --pages 400 --folder $dir" >"$dir/out" 2>&1 &
    wait_for all_started
    wait_for test -e "$dir/ready" || echo "FAIL $1: it does not begin"
    sleep 0.5
    sed 's/.* //' "$dir/ranks" >"$dir/pids"
    start=$SECONDS
    kill -9 "$(pid_of "$3")"
    wait $! || status=$?
    wait_for no_rank_alive || status="$status, ranks are left"
    [ -z "$(find "$dir/nvm" -mindepth 1)" ] || status="$status, files are left"
    [ -z "$(left_in_shm)" ] || status="$status, shared memory is left"
    [ -z "$4" ] || grep -qE "$4" "$dir/out" || status="$status, not said: $4"
    if [[ $status =~ ^[0-9]+$ ]] && [ "$status" != 0 ] && [ $((SECONDS - start)) -le $most ]; then
        echo "ok $1 ($((SECONDS - start)) s)"
    else
        echo "FAIL $1: status $status after $((SECONDS - start)) s"
        sed 's/^/    | /' "$dir/out"
        failed=1
    fi
}

died='[Kk]illed|signal 9|KILLED|EXIT CODE: 9|cannot be reached'
killed 'one of a node' 3 2 "$died"
killed 'the first of a node' 3 0 "$died"
killed 'one of several nodes' 3 2 "$died" HEARTH_NODE_RANKS=1
killed 'the first of the second node' 4 2 "$died" HEARTH_NODE_RANKS=2
killed 'the second of the first node' 4 1 "$died" HEARTH_NODE_RANKS=2
killed 'one of several nodes, over MPI' 2 1 "$died" HEARTH_NODE_RANKS=1 HEARTH_NET=mpi
exit $failed
