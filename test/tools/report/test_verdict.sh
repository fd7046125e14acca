#!/usr/bin/env bash
# Tests the estimates in the first paragraph of a report: programs run in transparent mode and then in the mode that the report recommends, or
# without and then with matching; the estimate is within 20 % of what was saved, or 2 % of the run if that is more. Where nothing can be saved
# or observed, none is promised.
#   test_verdict.sh MPI TREE       quick: openmpi; timeout: 180
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -O1 "$here/tools/saved.c" -o "$dir/saved" && "$cc" -O1 -shared -fPIC "$here/tools/slow_network.c" -o "$dir/slow.so" || exit 1

run() { # report, mode, arguments of saved
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --preload "$dir/slow.so" --env HEARTH_BYPASS=never \
        --env HEARTH_MODE="$2" --env HEARTH_REPORT="$dir/$1" "$dir/saved" "${@:3}" >"$dir/log" 2>&1 || { cat "$dir/log" && failed=1; }
    flushes=$(sed -n 's/^flushes //p' "$dir/log")
}

# Rank 0's time in flushes.
seconds() { # report
    /usr/bin/python3 -c 'import json, sys
print(sum(call["seconds"] for call in json.load(open(sys.argv[1]))["processes"][0]["mpi"]["calls"] if call["call"] == "MPI_Win_flush"))' "$dir/$1"
}

verdict() { # report
    "$tree/bin/hearth" report "$dir/$1" | sed -n '/In short/,/Time in MPI by rank/p' | tr '\n' ' '
}

# Both ranks are in the mean; only rank 0 makes calls.
promised() { # report
    verdict "$1" | sed -n 's/.*and save about \([0-9.]*\) \(m*\)s (.*/\1 \2/p' | awk '{ print 2 * $1 / ($2 == "m" ? 1000 : 1) }'
}

# The time of a flush is that of the first run: the load of the machine may change between the runs.
saves() { # name, arguments of saved
    local before estimate seconds
    run before.json transparent "${@:2}"
    before=${flushes:-0} estimate=$(promised before.json) seconds=$(seconds before.json)
    run after.json acquire "${@:2}"
    local what="${estimate:-0} s promised, $before flushes in $seconds s, then ${flushes:-0} flushes"
    if awk -v before="$before" -v after="${flushes:-0}" -v all="$seconds" -v estimate="${estimate:-0}" 'BEGIN {
            saved = all * (before - after) / before; off = estimate > saved ? estimate - saved : saved - estimate
            exit !(before > after && (off <= 0.2 * saved || off <= 0.02 * all)) }'; then
        echo "ok $1: $what"
    else
        echo "FAIL $1: $what"
        verdict before.json
        failed=1
    fi
}

saves 'all but the first gets' 50 5 0
saves 'half of the gets' 40 20 0
saves 'gets beside as many puts' 30 5 1
run nothing.json transparent 20 20 0
if [ -z "$(promised nothing.json)" ]; then echo 'ok no reuse, no promise'; else echo "FAIL no reuse: $(verdict nothing.json)" && failed=1; fi

# ---- matching ----

"$cc" -O1 "$here/tools/report/queued.c" -o "$dir/queued" || exit 1
# Ranks that wait yield their cores: on a busy machine they would otherwise wait for each other most of the time.
queued() { # report, HEARTH_MATCH, arguments of queued
    "$here/launch.sh" "$mpi" 2 --env OMPI_MCA_mpi_yield_when_idle=1 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH="$2" --env HEARTH_RECORD=all --env HEARTH_REPORT="$dir/$1" "$dir/queued" "${@:3}" \
        >"$dir/log" 2>&1 || { cat "$dir/log" && failed=1; }
}
posting() { # report: rank 0's time in MPI_Irecv, while it had a core
    /usr/bin/python3 -c 'import json, sys
print(sum(call["seconds"] - call.get("late_seconds", 0) for call in json.load(open(sys.argv[1]))["processes"][0]["mpi"]["calls"] if call["call"] == "MPI_Irecv"))' "$dir/$1"
}
matching() { # report: both ranks are in the mean; only rank 0 posts receives
    verdict "$1" | sed -n 's/.*Matching (HEARTH_MATCH=on) would save about \([0-9.]*\) \(m*\)s (.*/\1 \2/p' | awk '{ print 2 * $1 / ($2 == "m" ? 1000 : 1) }'
}

for _ in 1 2 3; do # a busy machine may delay one of the runs
    queued unexpected.json off unexpected
    queued matched.json on unexpected
    estimate=$(matching unexpected.json) before=$(posting unexpected.json) after=$(posting matched.json)
    what="${estimate:-nothing} promised; $before s in MPI_Irecv, then $after s"
    ! awk -v before="$before" -v after="$after" -v estimate="${estimate:-0}" 'BEGIN {
        saved = before - after; off = estimate > saved ? estimate - saved : saved - estimate; exit !(estimate && off <= 0.2 * saved) }' || break
    what="FAIL $what"
done
if [ "$mpi" != openmpi ]; then # this MPI does not tell how long the queue is
    if [ -z "$estimate" ]; then echo 'ok unexpected messages: not observed'; else echo "FAIL $what" && failed=1; fi
elif [ "${what#FAIL}" = "$what" ]; then
    echo "ok unexpected messages: $what"
else
    echo "$what" && verdict unexpected.json && failed=1
fi
for _ in 1 2 3; do # a run that waits long for a core spends little of its time in the queues
    queued posted.json off posted 60
    what=$(verdict posted.json)
    [ -z "$(matching posted.json)" ] || break
    case $what in *'would save was not observed; hearth tune measures it'*) what='' && break ;; esac
done
if [ -z "$what" ]; then
    echo 'ok posted receives: not observed'
else
    echo "FAIL posted receives: $what" && failed=1
fi
exit $failed
