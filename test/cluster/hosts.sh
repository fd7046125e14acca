#!/bin/sh
# Makes virtual hosts on one machine, so that a test can use a network.
#
#   hosts.sh with N COMMAND...    makes hosts n1..nN, runs COMMAND, and always removes them
#   hosts.sh run HOST COMMAND...  runs COMMAND on a host; only inside `with`. Launchers run on n0
#
#        n0: bridge br0, .254
#           |         |
#        p1-eth0   p2-eth0          each host has its own network, host name, System V IPC and /dev/shm, so
#           n1        n2            that hosts share no memory
#          .1        .2
#
# As root the hosts are named network namespaces, with the id of this process in the name so that two runs never
# collide; nothing is added to the machine's own network. Other users get the same inside one user namespace, which
# disappears with COMMAND. Where the system allows neither, COMMAND runs with CLUSTER_KIND=fake, and launch.sh makes
# fake nodes. Inside, CLUSTER_KIND is "real" or "fake", and CLUSTER_NET holds the first three bytes of the addresses.
set -eu
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
export CLUSTER_NET=10.77.0

up() { # hosts
    ip netns add "${CLUSTER_NAME}n0"
    ip -n "${CLUSTER_NAME}n0" link set lo up
    ip -n "${CLUSTER_NAME}n0" link add br0 type bridge stp_state 0 forward_delay 0
    ip -n "${CLUSTER_NAME}n0" link set br0 up
    ip -n "${CLUSTER_NAME}n0" addr add $CLUSTER_NET.254/24 dev br0
    printf '127.0.0.1 localhost\n%s.254 n0\n' $CLUSTER_NET >"$CLUSTER_FILE"
    for i in $(seq 1 "$1"); do
        add_host "$i"
    done
}

add_host() { # number
    host=${CLUSTER_NAME}n$1
    ip netns add "$host"
    ip -n "$host" link set lo up
    ip -n "${CLUSTER_NAME}n0" link add "p$1" type veth peer name eth0 netns "$host"
    ip -n "${CLUSTER_NAME}n0" link set "p$1" master br0 up
    ip -n "$host" addr add "$CLUSTER_NET.$1/24" dev eth0
    ip -n "$host" link set eth0 up
    echo "$CLUSTER_NET.$1 n$1" >>"$CLUSTER_FILE"
}

remove() { # prefix: removes all namespaces with this prefix, and the processes inside them
    for name in $(ip netns list 2>/dev/null | awk -v p="$1" 'index($1, p) == 1 { print $1 }'); do
        ip netns pids "$name" | xargs -r kill -9 2>/dev/null || true
        ip netns del "$name" || true
    done
}

down() {
    trap - EXIT INT TERM HUP
    remove "$CLUSTER_NAME"
    rm -f "$CLUSTER_FILE"
}

stop() { # on a time limit, or SIGINT
    [ -z "${command:-}" ] || kill -TERM "$command" 2>/dev/null || true
    exit 130
}

sweep() { # removes what killed runs have left
    for pid in $(ip netns list 2>/dev/null | sed -n 's/^hearth\([0-9]*\)_n0.*/\1/p'); do
        kill -0 "$pid" 2>/dev/null || remove "hearth${pid}_"
    done
}

with_hosts() { # number, command: as root of the initial or of a user namespace
    count=$1
    shift
    sweep
    export CLUSTER_KIND=real CLUSTER_NAME="hearth$$_"
    CLUSTER_FILE=$(mktemp "${TMPDIR:-/tmp}/hearth_hosts.XXXXXX")
    export CLUSTER_FILE
    trap down EXIT
    trap stop INT TERM HUP
    up "$count"
    "$@" & # a trap waits for a command in the foreground
    command=$! status=0
    wait $command || status=$?
    exit $status
}

in_user_namespace() { # command
    unshare --user --map-root-user --net --mount --uts --ipc --pid --fork --kill-child sh -c '
        mount -t proc proc /proc && mount -t tmpfs tmpfs /run && mkdir /run/netns && exec "$@"' sh "$@"
}

# Tried out: a container may run as root and still forbid it.
allowed() { # the command to run with
    "$@" "$self" with-here 1 "$self" run n1 true >/dev/null 2>&1
}

run_on() { # host, command
    host=$1
    shift
    exec ip netns exec "$CLUSTER_NAME$host" unshare --uts --ipc --mount sh -c '
        hostname "$0" && mount --bind "$CLUSTER_FILE" /etc/hosts && mount -t tmpfs -o size=1g tmpfs /dev/shm &&
        exec "$@"' "$host" "$@"
}

[ $# -ge 3 ] || set -- usage
case "$1" in
with)
    shift
    if allowed env; then
        with_hosts "$@"
    elif allowed in_user_namespace; then
        in_user_namespace "$self" with-here "$@"
    else
        echo "hosts: this system allows no namespaces: no virtual hosts"
        shift
        CLUSTER_KIND=fake exec "$@"
    fi
    ;;
with-here)
    shift
    with_hosts "$@"
    ;;
run)
    shift
    run_on "$@"
    ;;
*)
    echo "usage: $0 with N COMMAND... | run HOST COMMAND..." >&2
    exit 2
    ;;
esac
