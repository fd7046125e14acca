# For tests of jobs that fail, or in which a rank is killed by SIGKILL; to be sourced. Sets here and dir, and uses mpi and tree
# of the caller; say sets failed.
# shellcheck shell=bash disable=SC2154,SC2034 # mpi and tree are set by the script that sources it, failed is read there
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
most=60 # seconds until a job ends, also on a busy machine
patience=60 # seconds until a condition holds
trap 'rm -rf "$dir"' EXIT

say() { # name, whether it passed; the output of the program is in $dir/out, its exit status may be in `status`
    if [ "$2" = 1 ]; then
        echo "ok $1"
    else
        echo "FAIL $1${status:+ (status $status)}"
        sed 's/^/    | /' "$dir/out"
        failed=1
    fi
}

no_rank_alive() { # a zombie has ended: in a container there may be no process that collects it
    ! xargs -r ps -o stat= -p <"$dir/pids" | grep -q '^[^Z]'
}

wait_for() { # command: until it succeeds
    local end=$((SECONDS + patience))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

both_started() {
    [ "$(wc -l <"$dir/pids")" = 2 ]
}

began() { # whether the program has begun with what it is to be killed in; scripts whose programs tell it redefine this
    sleep 1.5
}

# Starts the program on two ranks, kills one, and waits. Succeeds if the launcher ends the job soon, with an error,
# and no rank is left; otherwise prints the reason.
kill_rank() { # name, rank as a line number of the list, program and arguments, options of launch.sh
    local what=$1 line=$2 program=$3 start status=0
    : >"$dir/pids"
    "$here/launch.sh" "$mpi" 2 --timeout 120 "${@:4}" --preload "$tree/lib/libhearth-mpi.so" \
        sh -c "echo \$\$ >>$dir/pids; exec $tree/test/$program" >"$dir/out" 2>&1 &
    wait_for both_started
    wait_for began
    start=$SECONDS
    kill -9 "$(sed -n "${line}p" "$dir/pids")"
    wait $! || status=$?
    [ $status != 0 ] && [ $((SECONDS - start)) -le $most ] && wait_for no_rank_alive && return
    echo "FAIL $what: exit status $status after $((SECONDS - start)) s, ranks left: $(paste -sd ' ' "$dir/pids")"
    sed 's/^/    | /' "$dir/out"
    return 1
}

# Over TCP.
tcp=(--tcp)
