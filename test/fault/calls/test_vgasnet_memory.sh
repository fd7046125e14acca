#!/usr/bin/env bash
# Tests segments that are several times as large as the pool of pages, and larger than the memory limit of the job (a
# cgroup): all data is written and read, by loads and stores and by other ranks, and memory stays below the limit.
# Pools that are too small or do not fit are refused, and so are segments in memory that is reserved for another job.
# test_vgasnet_memory.sh MPI TREE      quick: openmpi; timeout: 240
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/../kill.sh"
[ -x "$tree/test/durable_gas" ] || { echo "libvgasnet has no pages here: xxHash is not installed" && exit 77; }

# ---- a cgroup below the current one; version 1 or 2 ----

limit=$((160 << 20)) group='' names=()
enter_below() { # folder of the current cgroup, name of the limit
    [ -w "$1/cgroup.procs" ] && mkdir "$1/hearth-test-$$" 2>/dev/null || return 1
    group=$1/hearth-test-$$
    echo $limit 2>/dev/null >"$group/$2" && (echo 0 >"$group/cgroup.procs") 2>/dev/null && return 0
    rmdir "$group"
    group=''
    return 1
}
of() { # mark of the version in /proc/self/cgroup
    sed -n "s/^[0-9]*:$1:\(.*\)/\1/p" /proc/self/cgroup
}
if enter_below "/sys/fs/cgroup/memory$(of memory)" memory.limit_in_bytes; then
    names=(memory.max_usage_in_bytes memory.oom_control) limit_name=memory.limit_in_bytes
elif enter_below "/sys/fs/cgroup$(of '')" memory.max; then
    names=(memory.peak memory.events) limit_name=memory.max
fi
leave() {
    local i
    rm -rf "$dir"
    [ -n "$group" ] || return
    for ((i = 0; i < 50; i++)); do
        rmdir "$group" 2>/dev/null && return
        sleep 0.1
    done
}
trap leave EXIT
[ -n "$group" ] || { echo "no memory cgroup can be made here" && exit 77; }
nvm=${TMPDIR:-/var/tmp}
case $(stat -f -c %T "$nvm") in tmpfs | ramfs) echo "$nvm is memory: set TMPDIR to a folder on a disk" && exit 77 ;; esac

status=0
run() { # K=V... mode and its options: two ranks, inside the cgroup
    local env=(--env "HEARTH_NVM_DIR=$nvm")
    while [[ $1 == *=* ]]; do env+=(--env "$1") && shift; done
    status=0
    sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$here/launch.sh" "$mpi" 2 --timeout 150 "${env[@]}" \
        "$tree/test/durable_gas" "$@" --folder "$dir" >"$dir/out" 2>&1 || status=$?
}

peak() {
    cat "$group/${names[0]}" 2>/dev/null || echo 0 # memory.peak exists since Linux 5.19
}

# ---- much more than fits ----

# Two segments of 90 MiB in 160 MiB of memory, part of which MPI uses.
large() { # name, K=V...
    run "${@:2}" both --page 65536 --pages 1440
    say "$1" $((status == 0 && $(grep -c '^well' "$dir/out") == 1))
    say "$1: memory at most $(($(peak) >> 20)) of $((limit >> 20)) MiB, nobody was killed for it" \
        $(($(peak) <= limit && ! $(sed -n 's/^oom_kill //p' "$group/${names[1]}")))
}
# In the quick tier the last one is that of a node.
[ "${HEARTH_TEST_TIER:-}" = quick ] || large 'segments of 5 times the pool and more than the memory' HEARTH_POOL_SIZE=32m
large 'the same between nodes' HEARTH_POOL_SIZE=16m HEARTH_NODE_RANKS=1
large 'the pool as it is chosen by default'

# ---- two jobs ----

# Segments in memory are backed when they are touched. Memory that the first job has reserved but not touched is not
# available to the second.
two=(HEARTH_NVM=off both --page 65536 --pages 1920) # two ranks of 120 MiB: fits a single job
echo $((600 << 20)) >"$group/$limit_name"
run "${two[@]}"
say 'a job alone gets its segments' $((status == 0 && $(grep -c '^well' "$dir/out") == 1))
mkdir "$dir/first"
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$here/launch.sh" "$mpi" 2 --timeout 120 --env HEARTH_NVM=off \
    "$tree/test/durable_gas" late --page 65536 --pages 1920 --folder "$dir/first" >"$dir/first/out" 2>&1 &
first=$!
wait_for test -e "$dir/first/ready"
run "${two[@]}"
say 'a second job is refused what the first was promised' $((status == 3 && $(grep -c 'error: gasnet_attach:.* other jobs' "$dir/out") >= 1))
touch "$dir/first/go"
status=0
wait $first || status=$?
cp "$dir/first/out" "$dir/out"
say 'the first job gets it' $((status == 0 && $(grep -c '^well' "$dir/out") == 1))
echo $limit >"$group/$limit_name"

# Promises outside of the cgroup do not count against its limit.
mkdir "$dir/outside"
"$here/launch.sh" "$mpi" 2 --timeout 120 --env HEARTH_NVM=off \
    "$tree/test/durable_gas" late --page 65536 --pages 1920 --folder "$dir/outside" >"$dir/outside/out" 2>&1 &
outside=$!
wait_for test -e "$dir/outside/ready"
run HEARTH_POOL_SIZE=32m both --page 65536 --pages 100
say 'what a job outside of the cgroup was promised is not missing in it' $((status == 0 && $(grep -c '^well' "$dir/out") == 1))
touch "$dir/outside/go"
wait $outside

# ---- invalid pools ----

refused() { # name, regular expression, K=V... mode...
    for _ in 1 2 3; do # MPICH's launcher sometimes drops the last lines
        run "${@:3}"
        ! grep -qE "$2" "$dir/out" || break
    done
    say "$1" $((status == 3 && $(grep -cE "hearth\[0\]: error: .*$2" "$dir/out") == 1))
}
refused 'a pool that is too small' 'HEARTH_POOL_SIZE=65536: 2 ranks on a node need at least 24 pages of 4096 bytes: 98304' \
    HEARTH_POOL_SIZE=64k HEARTH_PAGE_SIZE=4k write
run HEARTH_POOL_SIZE=98304 HEARTH_PAGE_SIZE=4k both --pages 100
say 'the least that there can be' $((status == 0))
refused 'a pool that does not fit' 'the pool takes 536870912 bytes, and .* has [0-9]+ left: set HEARTH_POOL_SIZE lower' \
    HEARTH_POOL_SIZE=512m write
exit $failed
