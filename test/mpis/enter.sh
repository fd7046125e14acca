#!/usr/bin/env bash
# Runs a command inside a root of root.sh, in the folder of the sources:   enter.sh ROOT BUILD COMMAND...
#
#   /hearth          the sources, read-only
#   /hearth/build    the folder BUILD
#
# The root has its own mounts, processes and System V IPC, and its own /dev/shm and /tmp; it shares the machine's network. The kernel
# removes the mounts with the namespace, and ends its processes, whichever way the command ends.
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

enter() { # root, build folder, command; as the first process of the namespaces
    local root=$1 build=$2
    shift 2
    mount --bind "$root" "$root" # the new root must be a mount point
    mkdir -p "$root/hearth" "$root/old" "$build" "$sources/build"
    mount --bind "$sources" "$root/hearth"
    mount --bind "$build" "$root/hearth/build"
    mount -o remount,ro,bind "$root/hearth"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    mount -t tmpfs run "$root/run"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cd "$root"
    pivot_root . old
    cd /hearth
    umount -l /old
    exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
        JOBS="${JOBS:-}" CCACHE_DIR=/hearth/build/ccache DEBIAN_FRONTEND=noninteractive "$@"
}

if [ "${1:-}" = --inside ]; then
    shift
    enter "$@" # does not return
fi
# unshare ignores SIGTERM; the kernel kills its namespace with it.
unshare --mount --propagation private --pid --fork --kill-child --ipc "${BASH_SOURCE[0]}" --inside "$@" <&0 &
namespace=$! status=0
trap 'kill -KILL $namespace; exit 143' INT TERM HUP
wait $namespace || status=$?
exit $status
