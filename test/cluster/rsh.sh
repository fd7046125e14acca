#!/bin/sh
# Replaces ssh for virtual hosts: rsh.sh [OPTION]... HOST COMMAND..., as both launchers call it.
while [ $# -gt 0 ]; do
    case "$1" in
    -p | -l | -o) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
host=$1
shift
exec "$(dirname "$0")/hosts.sh" run "$host" sh -c "$*"
