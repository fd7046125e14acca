#!/usr/bin/env bash
# Tests hearth top: running programs as JSON, as a table and on a screen; processes that must not be shown; refused
# input.
#   test_top.sh MPI TREE       quick: openmpi; timeout: 900
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source=$here/../src
dir=$(mktemp -d)
chmod 711 "$dir"
jobs=() # processes started here
finish() {
    tmux -S "$dir/tmux" kill-server 2>/dev/null
    for pid in ${jobs[@]+"${jobs[@]}"}; do kill "$pid" 2>/dev/null; done
    wait
    rm -rf "$dir"
}
trap finish EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
hearth=$tree/bin/hearth
python=$(command -v python3) || { echo "no python3" && exit 77; }
"$cc" -O1 "$here/tools/top/live.c" -o "$dir/live" || exit 1
${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -I"$source" "$here/tools/top/live_page.c" "$source"/observe/{live,live_file}.c "$source"/base/{memory,settings,number,log}.c -pthread \
    -o "$dir/live_page" || exit 1

ok() { # name, command...
    local what=$1
    shift
    if "$@"; then echo "ok $what"; else echo "FAIL $what" && failed=1; fi
}

wait_for() { # file...: waits until all exist
    local name tries=0
    for name in "$@"; do
        until [ -e "$name" ]; do
            if [ $((tries += 1)) -gt 1200 ]; then
                echo "FAIL no $name; so far:"
                ls "$(dirname "$name")"
                cat "$(dirname "$name")/log"
                exit 1
            fi
            sleep 0.1
        done
    done
}

gone() { # pid...: waits until they have ended
    local pid tries=0
    for pid in "$@"; do
        while [ -n "$({ tr -d '\0' <"/proc/$pid/cmdline"; } 2>/dev/null)" ]; do # that of a zombie is empty
            [ $((tries += 1)) -le 600 ] || return 1
            sleep 0.1
        done
    done
}

start() { # name, program, options of launch.sh...: two ranks in the background, with a folder of that name
    local name=$1 program=$2
    shift 2
    mkdir "$dir/$name"
    "$here/launch.sh" "$mpi" 2 --timeout 800 "$@" "$dir/$program" "$dir/$name" >"$dir/$name/log" 2>&1 &
    jobs+=($!)
}

at() { # name, step: waits until both ranks are there; sets pids
    wait_for "$dir/$1/at$2.0" "$dir/$1/at$2.1"
    pids=("$(cat "$dir/$1/at$2.0")" "$(cat "$dir/$1/at$2.1")")
}

top() { # arguments of hearth top
    timeout -k 5 60 "$hearth" top "$@" </dev/null
}

look() { # condition of top_check.py that each of these processes must satisfy
    local IFS=,
    top --once --json -d "${delay:-0}" >"$dir/top.json" && "$python" "$here/tools/top/top_check.py" "$dir/top.json" "${pids[*]}" "$@"
}

soon() { # the same, within a minute
    local i
    for ((i = 0; i < 30; i++)); do
        look "$@" >"$dir/soon" 2>&1 && return
        sleep 1
    done
    cat "$dir/soon" && return 1
}

preload=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_SUSPEND=0)

# ---- a job, step by step ----

start job live "${preload[@]}" --env HEARTH_MATCH=1 --env HEARTH_REPORT="$dir/report.json" \
    --env HEARTH_REPORT_EVERY=0
at job 1
ok 'gets and hits' look 'gets == 100' 'hits == 90' 'bytes_served == 90 * 512' 'bytes_fetched == 10 * 512' 'bypassed == 0'
ok 'the cache' look 'windows == 1' 'entries == 10' '5120 <= used_bytes <= storage_bytes' 'process.fill == used_bytes / storage_bytes or abs(process.fill - used_bytes / storage_bytes) < 1e-5'
ok 'queues of messages' look 'posted == 5' 'unexpected == 3' 'sent == 3' 'arrived == 3' 'matched == 0' 'sent_bytes == 12'
ok 'ranks and jobs' look 'process.rank in (0, 1)' 'job.ranks == 2' 'job.ranks_here == 2' 'job.program == "live"' 'process.shown == "whole"'
ok 'without rates' look 'len(process.rates) == 0'
delay=0.3 ok 'an idle job has rates of 0' look 'rate.gets == 0' 'rate.sent == 0' 'process.hit_ratio_now is None' 'process.hit_ratio == 0.9'
top --once -d 0 >"$dir/table"
ok 'a table' grep -qE "^ +0 +${pids[0]} .* 90\.0 " "$dir/table"
ok 'its columns' grep -qE '^ +RANK +PID +GETS/s +HIT% +EVER% .*FILL% .*POSTED' "$dir/table"
job=$("$python" -c 'import json, sys
print(next(j["job"] for j in json.load(open(sys.argv[1]))["jobs"] for p in j["processes"] if p["pid"] == int(sys.argv[2])))' "$dir/top.json" "${pids[0]}")
top --once -d 0 --job "$job" --fold >"$dir/table"
ok 'one line per job' grep -qE "^ +\+ +$job .* 90\.0 .*  live, 2 of 2 ranks$" "$dir/table"
ok 'and no other job' test "$(wc -l <"$dir/table")" = 2
ok 'a program by its name' grep -q "^job $job live: 2 of 2 ranks here" <(top --once -d 0 --program 'li*e')
ok 'other programs are not shown' test -z "$(top --once -d 0 --program 'li?' | grep "job $job")"
mkdir "$dir/bin"
cat >"$dir/bin/ssh" <<'END'
#!/bin/sh
while [ "$1" != -- ]; do shift; done
[ "$2" != down ] || exit 255
[ "$2" != stuck ] || exec sleep 300
exec sh -c "$3"
END
chmod +x "$dir/bin/ssh"
PATH=$dir/bin:$PATH top --once -d 0.1 --hosts up,down --job "$job" >"$dir/table" 2>"$dir/err"
ok 'a host that does not answer is an error' test $? = 1
ok 'a line names it' grep -q '^hearth: error: no answer from down: ' "$dir/err"
ok 'jobs on other hosts' grep -q "^job $job live: 2 of 2 ranks on up" "$dir/table"
ok 'with their numbers' grep -qE "^ +1 +${pids[1]} .* 90\.0 " "$dir/table"
if [ "${HEARTH_TEST_TIER:-}" != quick ]; then # it takes 20 s
    PATH=$dir/bin:$PATH top --once -d 0.1 --hosts up,stuck --job "$job" >"$dir/table" 2>"$dir/err"
    ok 'so is one that accepts the connection and then hangs' grep -q '^hearth: error: no answer from stuck: ' "$dir/err"
fi
touch "$dir/job/go1"
at job 2
ok 'more of all' look 'gets == 200' 'hits == 190' 'posted == 0' 'unexpected == 0' 'sent == 8' 'arrived == 8' 'matched == 5'
touch "$dir/job/go2"
at job 3
ok 'counts outlive the window' look 'gets == 200' 'hits == 190' 'windows == 0' 'entries == 0' 'storage_bytes == 0'
touch "$dir/job/go3"
at job 4
delay=1 ok 'rates' soon 'gets > 200' 'rate.gets > 0' 'process.hit_ratio_now > 0.9' 'rate.bytes_served > 0'
wait_for "$dir/job/child.0" "$dir/job/child.1"
children=("$(cat "$dir/job/child.0")" "$(cat "$dir/job/child.1")")
ok 'the children are there' kill -0 "${children[@]}"
pids=("${children[@]}")
ok 'and are not shown' look absent

# ---- the screen ----

screen() { # regular expression: waits until a line of the tmux screen matches
    local i
    for ((i = 0; i < 300; i++)); do
        tmux -S "$dir/tmux" capture-pane -pJ -t top >"$dir/screen" 2>/dev/null
        grep -qE -- "$1" "$dir/screen" && return
        sleep 0.2
    done
    sed 's/^/    | /' "$dir/screen" && return 1
}

first_rank() { # rank: waits until the screen shows this rank first in the job
    local i
    for ((i = 0; i < 150; i++)); do
        tmux -S "$dir/tmux" capture-pane -pJ -t top >"$dir/screen" 2>/dev/null
        [ "$(grep -E " (${pids[0]}|${pids[1]}) " "$dir/screen" | awk 'NR == 1 { print $1 }')" = "$1" ] && return
        sleep 0.2
    done
    sed 's/^/    | /' "$dir/screen" && return 1
}

keys() { tmux -S "$dir/tmux" send-keys -t top "$@"; }
resize() { tmux -S "$dir/tmux" resize-window -t top -x "$1" -y "$2"; }
open() { # columns, lines, variables: hearth top, also with the arguments in `more`, in a terminal of that size
    local size=(-x "$1" -y "$2")
    shift 2
    tmux -S "$dir/tmux" -f /dev/null new-session -d -s top "${size[@]}" "env $* $hearth top -d 0.3 --job $job ${more:-}; echo \"exit code \$?\"; sleep 600"
}
close() { tmux -S "$dir/tmux" kill-session -t top; }

at job 4
if ! command -v tmux >/dev/null; then
    echo 'no tmux: the screen is not tested'
elif ! "$hearth" info -v | grep -q ncurses; then
    echo 'built without ncurses: the screen is not tested'
else
    tmux -S "$dir/tmux" -f /dev/null new-session -d -s keep 'sleep 1000' # so that the server stays between two sessions
    open 120 40
    ok 'the screen has the job' screen "^ +1 +${pids[1]} "
    ok 'and its head' screen '^ +RANK +PID +GETS/s +HIT%'
    ok 'and what is shown of it' screen 'hearth top on .* process'
    keys h
    ok 'help' screen '^HIT% +of these, served by the cache'
    keys ' '
    ok 'and back' screen "^ +1 +${pids[1]} "
    ok 'rank 0 is first' first_rank 0
    keys R
    ok 'unless the order is turned round' first_rank 1
    keys R
    keys Enter
    ok 'the job is folded' screen "^ +\\+ +$job .* live, 2 of 2 ranks"
    keys Enter
    ok 'and unfolded' screen "^ +1 +${pids[1]} "
    ok 'there is no report yet' test ! -e "$dir/report.json.parts"
    keys r
    ok 'the job is asked for a report' screen "^2 of 2 processes of job $job write a report"
    asked=0
    until "$hearth" report --json "$dir/report.json" >"$dir/partial" 2>/dev/null || [ $((asked += 1)) -gt 600 ]; do sleep 0.1; done
    ok 'it is partial' grep -q '"partial": "it was written after' "$dir/partial"
    keys Right
    keys Right
    keys Left
    ok 'the column to sort by is chosen' screen "^ +0 +${pids[0]} "
    keys Left
    ok 'back to ranks' first_rank 0
    resize 30 5
    ok 'too small' screen '^too small: 40 x 6 is needed'
    resize 60 12
    ok 'large enough again' screen '^ +RANK +PID +GETS/s'
    ok 'columns that do not fit are counted' screen ' more columns'
    resize 120 40
    ok 'large again' screen '^ +RANK +PID .*CAME/s'
    keys q
    ok 'q ends it' screen '^exit code 0'
    close
    open 30 5
    ok 'a terminal that is too small is refused' screen 'exit code 2'
    close
    open 100 10 TERM=none-such
    ok 'a terminal that is not known is refused' screen 'exit code 2'
    ok 'with a line' screen 'hearth: error: the terminal none-such is unknown .*--once'
    close
    printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n' >"$dir/source"
    localedef -c -i "$dir/source" -f ANSI_X3.4-1968 "$dir/comma" >/dev/null 2>&1
    more='--hosts up' open 120 40 -u LC_ALL LOCPATH="$dir" LC_NUMERIC=comma PATH="$dir/bin:$PATH"
    ok 'other hosts, from a terminal with a decimal comma' screen "^ +1 +${pids[1]} "
    close
fi

# ---- the end ----

touch "$dir/job/go4"
at job 5
ok 'after MPI_Finalize it is not shown' look absent
touch "$dir/job/go5"
ok 'the job ends well' wait "${jobs[0]}"
ok 'the report says the same' "$python" - "$dir/report.json" <<'END'
import json, sys
windows = [w for w in json.load(open(sys.argv[1]))["windows"] if w["window"] == 1]
sys.exit(len(windows) != 2 or any(w["gets"] != 200 or w["full_hits"] + w["partial_hits"] + w["pending_hits"] != 190 for w in windows))
END

# ---- jobs that are killed, and jobs that disable it ----

start off live "${preload[@]}" --env HEARTH_LIVE=off
start killed live "${preload[@]}"
at off 1
ok 'HEARTH_LIVE=off' look absent
for i in 1 2 3 4 5; do touch "$dir/off/go$i"; done
at killed 1
ok 'a job that will be killed' look 'gets == 100'
kill -9 "${pids[@]}"
ok 'it dies' gone "${pids[@]}"
ok 'and is not shown' look absent
ok 'nothing of ours stays' [ -z "$(find /dev/shm -maxdepth 1 -type f -newer "$dir/live" -iname '*hearth*' 2>/dev/null)" ]

# ---- ARMCI and vGASNet ----

if [ -e "$tree/lib/libarmci.so" ]; then
    "$cc" -O1 -I"$here/../include/hearth/armci" "$here/tools/top/live_armci.c" -o "$dir/live_armci" -L"$tree/lib" -larmci -Wl,-rpath,"$tree/lib" || exit 1
    start armci live_armci --env HEARTH_NODE_RANKS=1
    at armci 1
    ok 'ARMCI' look '50 <= armci_far < 70' '20 <= armci_near < 40' 'armci_bytes == 70 * 8' 'blocks >= 50' 'served >= 50' 'threads["helper"]["count"] == 1'
    touch "$dir/armci/go1"
    at armci 2
    delay=0.3 ok 'ARMCI, more of it' look '100 <= armci_far' 'armci_bytes == 140 * 8' 'served >= 100' '0 <= threads["helper"]["load"] < 8'
    touch "$dir/armci/go2"
fi
if [ -e "$tree/lib/libvgasnet.so" ]; then
    "$cc" -O1 -I"$here/../include/hearth" "$here/tools/top/live_gas.c" -o "$dir/live_gas" -L"$tree/lib" -lvgasnet -Wl,-rpath,"$tree/lib" || exit 1
    mkdir "$dir/nvm"
    start gas live_gas --env HEARTH_NODE_RANKS=1 --env HEARTH_NVM_DIR="$dir/nvm" --env HEARTH_POOL_SIZE=2m --env HEARTH_PAGE_SIZE=64k
    at gas 1
    ok 'vGASNet' soon 'gas_far == 50' 'gas_bytes == 50 * 65536' 'page_hits + page_misses + page_smalls >= 50' 'page_bytes == 65536' 'frames == 32' \
        '0 < frames_used <= frames' 'threads["service"]["count"] == 1'
    ok 'NVM' soon 'nvm_writes > 0' 'evicted > 0'
    touch "$dir/gas/go1"
    at gas 2
    ok 'vGASNet, more of it' soon 'gas_far == 150' 'nvm_reads > 0' 'from_home > 0' 'page_hits + page_misses + page_smalls >= 150'
    touch "$dir/gas/go2"
fi

# ---- invalid pages, and pages of other users ----

mkdir "$dir/pages"
chmod 777 "$dir/pages"
page() { # kind, command before it...: sets pids
    local kind=$1
    shift
    rm -f "$dir/pages/$kind.0"
    timeout -k 5 800 "$@" "$dir/live_page" "$kind" "$dir/pages" >"$dir/pages/log" 2>&1 &
    jobs+=($!)
    wait_for "$dir/pages/$kind.0"
    pids=("$(cat "$dir/pages/$kind.0")")
}

page good
ok 'a process by itself' look 'gets == 42' 'job.ranks == 1'
good=${pids[0]}
for kind in unsealed short magic pid over counts fields offsets stuck; do
    page $kind
    ok "no page: $kind" look absent
done
pids=("$good")
ok 'the good one is still seen' look 'gets == 42'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    cp "$hearth" "$dir/hearth" && chmod 755 "$dir/hearth" "$dir/live_page"
    as_other() { "${other[@]}" timeout -k 5 60 "$dir/hearth" top --once --json -d 0 >"$dir/other.json"; }
    ok 'another user may ask' as_other
    ok 'and does not see it' "$python" "$here/tools/top/top_check.py" "$dir/other.json" "$good" absent
    page good "${other[@]}"
    ok "nor do we see the other's" look absent
    as_other
    ok 'who does' "$python" "$here/tools/top/top_check.py" "$dir/other.json" "${pids[0]}" 'gets == 42'
else
    echo 'not root: other users are not tested'
fi
touch "$dir/pages/end"

# ---- refused input ----

refused() { # name, regular expression, arguments: exit code 2, one line on stderr, no other output
    local what=$1 like=$2 status
    shift 2
    top "$@" >"$dir/out" 2>"$dir/err"
    status=$?
    if [ $status = 2 ] && [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" = 1 ] && grep -qE "^hearth: error: $like" "$dir/err"; then
        echo "ok $what"
    else
        echo "FAIL $what: exit code $status" && cat "$dir/out" "$dir/err" && failed=1
    fi
}

refused 'an option that there is not' 'unknown option --bla: see hearth help top' --bla
refused 'an argument' 'hearth top takes no argument such as word' word
refused 'a time that is none' '-d soon is not a time in seconds' -d soon
refused 'no time' 'option -d needs a value' -d
refused 'a negative time' '-d -1 is not a time in seconds' -d -1
refused 'no number' '-d nan is not a time in seconds' --once -d nan
refused 'a long time' '-d 1e9 is not a time in seconds' -d 1e9
refused 'a time that is too short' '-d 0.01 is too short' -d 0.01
refused 'no time, on a screen' '-d 0 is too short' -d 0
refused 'JSON on a screen' '--json is for --once' --json
refused 'a job that is none' '--job x is not the number of a job' --job x
refused 'no hosts' '--hosts needs names of hosts' --hosts ,
refused 'a host that is an option' '--hosts needs names of hosts' --hosts -oProxyCommand=x
refused 'folds on a screen' '--fold is for --once' --fold
refused 'no terminal' 'hearth (top needs a terminal: use hearth top --once|was built without ncurses)'
ok 'help' grep -q 'usage: hearth top' <("$hearth" help top)
ok 'in the list' grep -qE '^  hearth top +live' <("$hearth" --help)

[ $failed = 0 ] && echo "all well"
exit $failed
