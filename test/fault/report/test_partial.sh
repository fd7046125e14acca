#!/usr/bin/env bash
# Tests the reports of jobs that do not reach MPI_Finalize: after MPI_Abort, exit, a crash, SIGTERM and SIGKILL; at intervals.
#   test_partial.sh MPI TREE      timeout: 180; waits: yes
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$here/launcher_status.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
"$cc" -O1 "$here/fault/report/early.c" -o "$dir/early" || exit 1
umask 027

ok() { # name, command...
    local what=$1
    shift
    if "$@"; then echo "ok $what"; else echo "FAIL $what" && failed=1 && ls -la "$dir" && tail -n 20 "$dir/log"; fi
}

start() { # how, name of the report, options of launch.sh...: in the background
    local how=$1 report=$2
    shift 2
    rm -f "$dir"/{go,handled,pid*}
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_REPORT_EVERY=0.05 \
        --env HEARTH_REPORT="$dir/$report" "$@" "$dir/early" "$how" "$dir" >"$dir/log" 2>&1 &
}

wait_for() { # command...: until it succeeds
    local tries=0
    until "$@" 2>/dev/null; do
        [ $((tries += 1)) -le 600 ] || return 1
        sleep 0.1
    done
}

partial() { # report, pattern of the reason: it has gets of both ranks
    "$tree/bin/hearth" report --json "$dir/$1" >"$dir/merged" || return 1
    /usr/bin/python3 - "$dir/merged" "$2" <<'P'
import json, re, sys
run = json.load(open(sys.argv[1]))
assert re.search(sys.argv[2], run["partial"]), run["partial"]
assert run["format"] == 2 and run["ranks"] == 2, run["ranks"]
gets = {w["rank"]: w["gets"] for w in run["windows"]}
assert set(gets) == {0, 1} and all(gets.values()), gets
assert [p["rank"] for p in run["processes"]] == [0, 1]
assert all(p["mpi"]["calls"] and sum(p["series"]["gets"]) == gets[p["rank"]] for p in run["processes"])
P
}

waited() { # process, signal or exit code, other exit code: the job has ended so, as it would without Hearth
    local status=0 expected=$2 other=${3:-$2}
    [ "$mpi" = mpich ] || [ "$2" = 7 ] || expected=$((128 + $2)) # MPICH's launcher returns the number of the signal
    wait "$1" || status=$?
    [ "$mpi" != mpich ] || [ $status != 6 ] || return 0 # UCX 1.18 aborts the other rank, and the launcher returns its status
    status_fits "$mpi" $status "$expected" || [ $status = "$other" ] || { echo "exit status $status instead of $expected" && return 1; }
}

start abort abort.json
ok 'MPI_Abort ends the job as before' waited $! 7
ok 'MPI_Abort: a report with what was known of all ranks' partial abort.json '^rank 1 called MPI_Abort after [0-9.]+ s$'
ok 'its parts follow the umask' test "$(stat -c %a "$dir/abort.json.parts"/0.*)" = 640
start wait abort.json
job=$!
ok 'the next job with this report removes them' wait_for partial abort.json 'before the program called MPI_Finalize'
: >"$dir/go"
wait $job
ok 'and ends with a whole report' grep -q '"ranks": 2' "$dir/abort.json"
ok 'and no parts' test ! -e "$dir/abort.json.parts"
start abort abort.json
ok 'that report stays if one more job ends early' waited $! 7
ok 'whose parts are newer' partial abort.json '^rank 1 called MPI_Abort'
ok 'hearth report says that it is partial' grep -q '^@ Partial .*rank 1 called MPI_Abort' <("$tree/bin/hearth" report "$dir/abort.json")
ok 'and so does the page' grep -q 'rank 1 called MPI_Abort' <("$tree/bin/hearth" report --html /dev/stdout "$dir/abort.json")

start segv segv.json
ok 'a crash ends the job as before' waited $! 11 15 # MPICH's launcher of version 5 may return how it ended the others
ok 'a crash: a report' partial segv.json '^rank 1 got SIGSEGV'
# MPICH's mpirun prints the signal, Open MPI's the handler of the library or the signal.
ok 'the signal is still reported' grep -qiE 'segmentation fault|signal 1[15]|exit code: 139' "$dir/log"

start chain chain.json
ok 'so does one that the program passes on' waited $! 11
ok 'with a report' partial chain.json '^rank 1 got SIGSEGV'

# MPICH's launcher kills the other rank, and returns the exit code of the one that it notices first.
start exit exit.json
ok 'exit without MPI_Finalize ends the job as before' waited $! 7 9
ok 'exit without MPI_Finalize: a report' partial exit.json '^rank 1 ended without MPI_Finalize'

start wait term.json
job=$!
reported() { partial term.json 'before the program called MPI_Finalize'; }
ok 'a partial report comes while the job runs' wait_for reported
kill -TERM "$(cat "$dir/pid1")"
ok 'SIGTERM ends the job as before' waited $job 15
ok 'SIGTERM: a report' partial term.json '^rank 1 got SIGTERM'

start wait kill.json
job=$!
reported() { partial kill.json 'before the program called MPI_Finalize'; }
wait_for reported
kill -KILL "$(cat "$dir/pid1")"
waited $job 9
# Open MPI's launcher sends SIGTERM to the others, MPICH's SIGKILL. UCX 1.18 aborts a process that reads from one that has died.
ok 'SIGKILL: what was known remains' partial kill.json 'before the program called MPI_Finalize|^rank 0 got SIG(TERM|ABRT)'

cd "$dir" || exit 1
start move moved.json --env HEARTH_REPORT=moved.json
job=$!
ok 'a relative name belongs to the folder of the start' wait_for partial moved.json 'before the program called MPI_Finalize'
: >"$dir/go"
ok 'also at the end' wait $job
ok 'where the report is' grep -q '"ranks": 2' "$dir/moved.json"

start own own.json
job=$!
reported() { partial own.json 'before the program called MPI_Finalize'; }
wait_for reported
kill -TERM "$(cat "$dir/pid1")"
ok 'a handler of the program is called' wait_for test -e "$dir/handled"
: >"$dir/go"
ok 'and the job goes on to its end' wait $job
ok 'the last report is whole' /usr/bin/python3 -c 'import json, sys; assert "partial" not in json.load(open(sys.argv[1]))' "$dir/own.json"
ok 'and no parts are left' test ! -e "$dir/own.json.parts"

rm "$dir/go"
start abort text.txt
waited $! 7
ok 'a report of any name is data, in parts too' grep -q '^@ Partial .*rank 1 called MPI_Abort' <("$tree/bin/hearth" report "$dir/text.txt")
exit $failed
