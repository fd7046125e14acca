#!/usr/bin/env bash
# Tests hearth report: the numbers of real runs as text and as a page, two runs side by side, and refused input.
#   test_tool_report.sh MPI TREE       quick: openmpi; timeout: 180
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$here/tools/check_files.sh"
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
hearth=$tree/bin/hearth
"$cc" -O1 "$here/tools/gets.c" -o "$dir/gets" || exit 1

run() { # name of the report, settings...
    local name=$1 options=()
    shift
    for setting in "$@"; do options+=(--env "$setting"); done
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never --env HEARTH_ADAPT=off \
        --env HEARTH_CACHE_SIZE=16k --env HEARTH_SUSPEND=0 --env HEARTH_SAMPLED_ADMISSION=0 --env HEARTH_REPORT="$dir/$name" "${options[@]}" "$dir/gets" \
        >"$dir/log" 2>&1 || { echo "FAIL $name: $(cat "$dir/log")" && failed=1; }
}

refused() { # name, regular expression, arguments: exit code 2, one line on stderr, no other output
    local what=$1 like=$2 status before after
    shift 2
    before=$(ls "$dir")
    timeout -k 5 30 "$hearth" report "$@" >"$dir/out" 2>"$dir/err"
    status=$?
    mv "$dir/out" "$dir/err" "$dir/last/"
    after=$(ls "$dir")
    if [ $status = 2 ] && [ "$(wc -l <"$dir/last/err")" = 1 ] && grep -qE "^hearth: error: $like" "$dir/last/err" &&
        [ ! -s "$dir/last/out" ] && [ "$before" = "$after" ]; then
        echo "ok $what"
    else
        echo "FAIL $what: exit code $status, and instead of: $like"
        sed 's/^/    | /' "$dir/last/err" "$dir/last/out"
        failed=1
    fi
}
mkdir "$dir/last"

# ---- one run ----

run small.json
"$hearth" report "$dir/small.json" >"$dir/small.txt"
check 'a report as text' test $? = 0
check 'its numbers are those of the JSON' /usr/bin/python3 "$here/tools/report/report_check.py" text "$dir/small.json" "$dir/small.txt"
check 'the header' has "$dir/small.txt" '^@ Ranks +: 2 on 1 node$'
sed 's/"cpu_seconds": .*/"cpu_seconds": 0.001,/' "$dir/small.json" >"$dir/starved.json"
check 'ranks that had no core' has <("$hearth" report "$dir/starved.json") '^@ CPU time +: [0-9.]+ % of the run time$'
check 'the settings' has "$dir/small.txt" '^@ Setting +: HEARTH_CACHE_SIZE=16k$'
check 'the advice' has "$dir/small.txt" "^window '</script>.*: [0-9]+ % capacity misses; with 128 KB the hit ratio would be 0.9[78]"
check 'two places, each with its window' test "$(grep -cE "^ +[12] .*('</script>.* read_loop|'plain' .*read_again) \(gets\+0x[0-9a-f]+\)$" "$dir/small.txt")" = 2
if command -v addr2line >/dev/null; then
    "$cc" -g -O1 "$here/tools/gets.c" -o "$dir/gets_g" && touch -d '-1 hour' "$dir/gets_g"
    sed "s|$dir/gets\"|$dir/gets_g\"|" "$dir/small.json" >"$dir/lines.json" # -g changes no code
    check 'two places, by line' test "$("$hearth" report "$dir/lines.json" | grep -cE "^ +[12] .* (read_loop|read_again) \(gets\.c:[0-9]+\)$")" = 2
fi
# Windows without a name of their own: those that Open MPI names, and the others.
sed "s|\"name\": \"plain\"|\"name\": \"rdma window 5\"|" "$dir/small.json" >"$dir/unnamed.json"
check 'a window without a name has the place where it was made' has <("$hearth" report "$dir/unnamed.json") "number 2 \(make_window\)"
check 'names of Fortran' has <(sed 's/"function": ".*"/"function": "__solver_MOD_step"/' "$dir/small.json" >"$dir/fortran.json" && "$hearth" report "$dir/fortran.json") \
    ' solver::step \(gets\+0x'
/usr/bin/python3 -c 'import copy, json, sys
run = json.load(open(sys.argv[1]))
first = [w for w in run["windows"] if w["window"] == run["windows"][0]["window"]]
for serial in range(100, 112):
    for w in copy.deepcopy(first):
        run["windows"].append({**w, "window": serial, "name": f"like {serial}", "gets": w["gets"] - serial, "capacity": w["capacity"] - serial})
json.dump(run, sys.stdout)' "$dir/small.json" >"$dir/alike.json"
"$hearth" report "$dir/alike.json" >"$dir/alike.txt"
check 'advice about alike windows is one line' test "$(grep -c 'capacity misses; try a larger' "$dir/alike.txt")" = 1
check 'with some of their names' has "$dir/alike.txt" "^12 windows \('like 100', 'like 101', 'like 102', \.\.\.\): [0-9]+ % capacity misses; .*\(window 'like 100'; the others are alike\)$"
touch -d '+1 hour' "$dir/gets"
check 'no names from a program that was changed since' has <("$hearth" report "$dir/small.json") "^ +1 .* gets\+0x[0-9a-f]+$"
touch -d '-1 hour' "$dir/gets"
check 'sizes' has "$dir/small.txt" '^ +1 KB +(4[89]|5[0-3])[0-9][0-9] ' # an estimate: 5120

check 'a page' "$hearth" report --html "$dir/small.html" "$dir/small.json"
ln -s small.html "$dir/link.html"
check 'a page by a link' "$hearth" report --html "$dir/link.html" "$dir/small.json"
check 'the link stays' test -L "$dir/link.html" -a -s "$dir/small.html"
cp -P /dev/stdout "$dir/stdout"
"$hearth" report --html "$dir/stdout" "$dir/small.json" >"$dir/redirected.html"
check 'a link to the standard output stays' test -L "$dir/stdout"
check 'and the page is in the file that it is redirected to' cmp "$dir/redirected.html" "$dir/small.html"
check 'its numbers are those of the JSON' /usr/bin/python3 "$here/tools/report/report_check.py" page "$dir/small.json" "$dir/small.html"
check 'for all to read, as any new file' test "$(stat -c %a "$dir/small.html")" = "$(touch "$dir/new" && stat -c %a "$dir/new")"
check 'it asks for nothing elsewhere' lacks "$dir/small.html" 'https?:|url\(|@import'
check 'an older page is replaced' "$hearth" report "$dir/small.json" --html "$dir/small.html"
check 'a page to where no file can be' "$hearth" report "$dir/small.json" --html /dev/null

"$hearth" report --csv --output "$dir/small.csv" "$dir/small.json"
check 'CSV: its numbers are those of the JSON' /usr/bin/python3 "$here/tools/report/report_check.py" csv "$dir/small.json" "$dir/small.csv"

# ---- time in MPI ----

check 'every call is counted' has "$dir/small.txt" '^MPI_Get +5920 '
check 'so is every flush' has "$dir/small.txt" '^MPI_Win_flush +5920 '
check 'in short: time, calls, hits' has <(tr '\n' ' ' <"$dir/small.txt") 'In [0-9.]+ m?s your program spent [0-9.]+ m?s of each rank.s time in MPI \([0-9.]+ %\): .* in MPI_.*s caches served [0-9]+ % of its'
check 'the page begins with the same' has "$dir/small.html" '<p id="verdict"><b>In [0-9.]+ m?s your program spent '
check 'and has the calls' has "$dir/small.html" 'MPI_Win_flush</td><td data-count="5920">'
"$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_REPORT="$dir/messages.json" "$tree/test/p2p_sendrecv" >"$dir/log" 2>&1
"$hearth" report "$dir/messages.json" >"$dir/messages.txt" && "$hearth" report "$dir/messages.json" --html "$dir/messages.html"
check 'a program without windows: the calls that it makes' has "$dir/messages.txt" '^MPI_Sendrecv_replace +[1-9]'
check 'it is told that there is nothing to serve' has <(tr '\n' ' ' <"$dir/messages.txt") 'This program makes no one-sided calls'
check 'and sees no tables of gets' lacks "$dir/messages.txt" 'Gets by rank|Top windows|Not recorded|Advice'
check 'nor on the page' lacks "$dir/messages.html" 'hit ratio|Not recorded'

# ---- messages ----

messages() { # report, settings...
    local name=$1 options=()
    shift
    for setting in "$@"; do options+=(--env "$setting"); done
    "$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_REPORT="$dir/$name.json" "${options[@]}" "$dir/messages" 40 >"$dir/log" 2>&1 &&
        "$hearth" report "$dir/$name.json" >"$dir/$name.txt" || { cat "$dir/log" && failed=1; }
    tr '\n' ' ' <"$dir/$name.txt" >"$dir/$name.line"
}
"$cc" -O1 -Wno-stringop-overflow "$here/tools/report/messages.c" -o "$dir/messages" || exit 1
messages counted HEARTH_RECORD=all
check 'receives that wait, at each post' /usr/bin/python3 -c 'import json, sys
received = json.load(open(sys.argv[1]))["processes"][1]["receives"]
assert received["posts"] == 658 and received["most"] == 40 and received["depth"] == [607, 7, 8, 4, 8, 16, 8], received
assert sys.argv[2] != "openmpi" or 100 < received["unexpected"]["most"] <= 600, received' "$dir/counted.json" "$mpi"
check 'as a table' has "$dir/counted.txt" '^16 to 31 +16  2\.4 %$'
check 'how many at most' has "$dir/counted.txt" '^At most 40 receives waited at a time, on rank 1, and 1\.[0-9] in the mean'
check 'unexpected messages, or that they were not observed' has "$dir/counted.line" "Unexpected messages in MPI_COMM_WORLD: at most [1-9]|unexpected messages was not observed"
# On a busy machine many messages may be unexpected, and cost more.
check 'in short' has "$dir/counted.line" 'makes no one-sided calls(, and searching its queues, at most [0-9]+ deep, takes less than 1.0 % of the run: Hearth cannot speed it up|: .* Messages: (queues are )?up to [0-9]+ )'
check 'short queues' has <(sed 's/"most": [0-9]*/"most": 3/' "$dir/counted.json" >"$dir/short.json" && "$hearth" report "$dir/short.json" | tr '\n' ' ') \
    'its queues are at most 3 deep, too short for matching to help: Hearth cannot speed it up'
"$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_REPORT="$dir/deep.json" "$dir/messages" 4000 >"$dir/log" 2>&1 || { cat "$dir/log" && failed=1; }
check 'thousands of receives that wait, of which a sample is followed' /usr/bin/python3 -c 'import json, sys
received = json.load(open(sys.argv[1]))["processes"][1]["receives"]
depth = received["depth"]
assert received["posts"] == sum(depth) == 4618 and received["most"] == 4000, received
assert depth[:8] == [607, 7, 8, 4, 8, 16, 32, 64] and len(depth) == 13 and abs(depth[12] - 1952) < 200, received' "$dir/deep.json"
messages matched HEARTH_MATCH=on HEARTH_HEATER=on
check 'messages that Hearth matched' has "$dir/matched.txt" '^658 messages with 2\.57 KB were sent, 0 % of them through MPI\.$'
check 'none of which left with others' lacks "$dir/matched.txt" 'left together'
check 'those that left together' has <(sed 's/"far": [0-9]*/"far": 200/; s/"batched": [0-9]*/"batched": 50/' "$dir/matched.json" >"$dir/batched.json" && "$hearth" report "$dir/batched.json") \
    '^25 % of those through MPI left together with others'
check 'with the time of the searches' has "$dir/matched.line" 'searches examined [0-9.]+ entries in the mean, and took [0-9.]+ [um]s of each rank'
sed 's/"rounds": [0-9]*/"rounds": 5/' "$dir/matched.json" >"$dir/heated.json" # a short run may end before the first round
check 'and the heater' has <("$hearth" report "$dir/heated.json") '^Rank +Rounds +Lines touched +Memory +Core$'
check 'in short' has "$dir/matched.line" 'Messages: Hearth matched 658; the queues were at most [0-9]+ deep, and searching them took [0-9.]+ [um]s\.'
# Deeper queues, as if the program had posted a million receives behind 700 others.
sed 's/"posts": 658/"posts": 1000000/; s/"depth": \[607.*\]/"depth": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000000]/; s/"most": 40/"most": 700/; s/"mean": [0-9.]*/"mean": 700/' "$dir/counted.json" >"$dir/deep_queues.json"
check 'deep queues: what they cost at most' has <("$hearth" report "$dir/deep_queues.json" | tr '\n' ' ') \
    'Messages: queues are up to 700 deep, which costs an MPI that walks them some [0-9.]+ s \([0-9]+ % of the run\)\. What matching \(HEARTH_MATCH=on\) would save was not observed'

# A receive that lost its core for 0.3 s, among many, behind few unexpected messages: no search took that long.
/usr/bin/python3 - "$dir/counted.json" "$dir/preempted.json" <<'P'
import json, sys
run = json.load(open(sys.argv[1]))
for process in run["processes"]:
    process["seconds"] = 1.0
    process["mpi"]["calls"] = [{"call": "MPI_Irecv", "count": 100000, "seconds": 0.32, "longest": 0.3, "usual": 1e-7, "fastest": 1e-7, "late": 1, "late_seconds": 0.3}]
    process["receives"]["unexpected"] = {"samples": 100, "most": 50, "mean": 20, "length": [0, 0, 0, 0, 100]}
json.dump(run, open(sys.argv[2], "w"))
P
check 'time without a core is no search' has <("$hearth" report "$dir/preempted.json" | tr '\n' ' ') \
    'Matching \(HEARTH_MATCH=on\) would save about (10|9\.[0-9]+) ms \((1|0\.9[0-9]*)(\.0)? % of the run\)|Cannot speed it up|takes less than 1\.0 % of the run'

check 'the same on a page' has <("$hearth" report "$dir/matched.json" --html /dev/stdout) '<p>658 messages with 2\.57 KB were sent, 0 % of them through MPI\.</p>'
check 'with its tables' has <("$hearth" report "$dir/counted.json" --html /dev/stdout) '^<tr><td class="text">16 to 31</td><td>16</td><td>2\.4 %</td></tr>$'

# ---- origins and targets ----

"$cc" -O1 "$here/tools/report/targets.c" -o "$dir/targets" || exit 1
"$here/launch.sh" "$mpi" 3 --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_REPORT="$dir/targets.json" "$dir/targets" >"$dir/log" 2>&1 ||
    { echo "FAIL targets: $(cat "$dir/log")" && failed=1; }
"$hearth" report --csv "$dir/targets.json" >"$dir/targets.csv"
check 'operations by origin and target' /usr/bin/python3 "$here/tools/report/report_check.py" targets "$dir/targets.json" "$dir/targets.csv"
"$hearth" report "$dir/targets.json" >"$dir/targets.txt"
check 'as text' /usr/bin/python3 "$here/tools/report/report_check.py" matrix "$dir/targets.json" "$dir/targets.txt"

# ---- not recorded ----

run plain.json HEARTH_RECORD=off
"$hearth" report "$dir/plain.json" >"$dir/plain.txt" && "$hearth" report "$dir/plain.json" --html "$dir/plain.html"
check 'what was not recorded is said in the text' has "$dir/plain.txt" 'HEARTH_RECORD=off'
check 'the rest is there' /usr/bin/python3 "$here/tools/report/report_check.py" text "$dir/plain.json" "$dir/plain.txt"
check 'what was not recorded is said on the page' test "$(grep -c 'class="missing">Not recorded' "$dir/plain.html")" = 8
check 'the rest is there' /usr/bin/python3 "$here/tools/report/report_check.py" page "$dir/plain.json" "$dir/plain.html"

# ---- one report per rank; the report of one rank ----

run own.%r.json
"$hearth" report "$dir/own.1.json" >"$dir/own.txt"
check 'the report of one rank' test $? = 0
check 'its numbers' /usr/bin/python3 "$here/tools/report/report_check.py" text "$dir/own.1.json" "$dir/own.txt"

# ---- two runs ----

run large.json HEARTH_CACHE_SIZE=1m
"$hearth" report "$dir/small.json" "$dir/large.json" >"$dir/both.txt"
check 'two runs: settings that differ' has "$dir/both.txt" '^HEARTH_CACHE_SIZE +16k +1m +differs$'
check 'two runs: windows belong together by name' has "$dir/both.txt" "^@--- Window 'plain' "
check 'two runs: in short, not clear' has "$dir/both.txt" '^Not clear whether B is faster or slower than A: B took [0-9.]+ m?s \(1 run\)'
check 'two runs: a page' "$hearth" report --html "$dir/both.html" "$dir/small.json" "$dir/large.json"
check 'with the same words' has "$dir/both.html" '<p id="verdict"><b>Not clear whether B is faster or slower than A: '
check 'and no more markup than its own' lacks "$dir/both.html" '<script'
check 'one run beside itself' has <("$hearth" report "$dir/small.json" "$dir/small.json") '^gets +5920 +5920 *$'

/usr/bin/python3 -c 'import json, sys
json.dump({"partial": "rank 1 got SIGTERM", **json.load(open(sys.argv[1]))}, open(sys.argv[2], "w"))' "$dir/counted.json" "$dir/stopped.json"
check 'no verdict on a run that was not seen to its end' has <("$hearth" report "$dir/stopped.json" | tr '\n' ' ') 'The run was not seen to its end, so this is no verdict'
check 'and no promise' lacks <("$hearth" report "$dir/stopped.json" | tr '\n' ' ') 'cannot speed it up'
check 'JSON as it was read' cmp "$dir/small.json" <("$hearth" report --json "$dir/small.json")

# ---- refused input ----

refused 'no file' 'hearth report takes the report of a run'
refused 'an unknown table' 'there is no table places: write --csv, or --csv=ranks' --csv=places "$dir/small.json"
refused 'a page and CSV' '--html FILE writes a page: leave out --csv' --csv --html "$dir/page.html" "$dir/small.json"
refused 'JSON and CSV' '--json prints the report itself: leave out --csv' --csv --json "$dir/small.json"
cp "$dir/small.json" "$dir/kept.json"
refused 'the report as its own output' '.*kept.json is a report, which the output would replace' --output "$dir/kept.json" "$dir/kept.json"
refused 'also as JSON' '.*kept.json is a report, which the output would replace' --json --output "$dir/kept.json" "$dir/kept.json"
refused 'a report as the page of another' '.*kept.json is a report, which the output would replace' --html "$dir/kept.json" "$dir/small.json"
check 'it is still there' cmp "$dir/small.json" "$dir/kept.json"
refused 'JSON of two reports' '--json prints one report: name one file' --json "$dir/small.json" "$dir/small.json"
refused 'a colon without runs behind it' 'runs are missing before or after a colon' "$dir/small.json" :
refused 'two colons' 'runs are missing before or after a colon' "$dir/small.json" : : "$dir/small.json"
refused 'one run as two' '.*small.json and .*small.json are the same file: name every run' "$dir/small.json,$dir/../${dir##*/}/small.json"
refused 'a comma too many' 'a name is missing in ' "$dir/small.json,,$dir/small.json"
refused 'an unknown option' 'unknown option --pdf' --pdf x "$dir/small.json"
refused 'an option without its value' 'option --html needs a value' "$dir/small.json" --html
refused 'a file that is not there' "cannot read $dir/none.json: No such file" "$dir/none.json"
refused 'a folder' "cannot read $dir: Is a directory" "$dir"
: >"$dir/empty.json"
refused 'an empty file' '.*empty.json is not JSON: line 1, column 1: the file ends in the middle' "$dir/empty.json"
head -c 3000 "$dir/small.json" >"$dir/cut.json"
refused 'a truncated file' '.*cut.json is not JSON: line [0-9]+, column [0-9]+: the file ends in the middle' "$dir/cut.json"
sed '9s/:/;/' "$dir/small.json" >"$dir/odd.json"
echo 'root:x:0:0' >"$dir/words"
refused 'a file that is no report' '.*/words is no report: name the file that hearth run --report FILE has written' "$dir/words"
refused 'a folder that is not there' 'cannot write .*/none/t.txt: No such file or directory: create the folder, or name a file elsewhere' --output "$dir/none/t.txt" "$dir/small.json"
[ ! -w /dev/full ] || refused 'a full disk' 'cannot write /dev/full: No space left on device: free some space, or name a file elsewhere' --output /dev/full "$dir/small.json"
refused 'a broken file' '.*odd.json is not JSON: line 9, column [0-9]+: a colon was expected' "$dir/odd.json"
echo '{"a": [1, 2]}' >"$dir/foreign.json"
refused 'JSON of others' '.*foreign.json is JSON, but not a report' "$dir/foreign.json"
echo '[1]' >"$dir/list.json"
refused 'JSON that is a list' '.*list.json is JSON, but not a report' "$dir/list.json"
sed 's/"format": 2/"format": 3/' "$dir/small.json" >"$dir/version.json"
refused 'another version' '.*version.json has format 3, of Hearth .*, which reads format 2: ' "$dir/version.json"
sed 's/"capacity":/"capacities":/' "$dir/small.json" >"$dir/changed.json"
refused 'a part that is missing' '.*changed.json is not a complete report of Hearth: .* has no count "capacity"' "$dir/changed.json"
sed '0,/"gets": [0-9]*/s//"gets": -1/' "$dir/small.json" >"$dir/negative.json"
refused 'a count that is none' '.*negative.json is not a complete report of Hearth: .* has no count "gets"' "$dir/negative.json"
printf '[%.0s' {1..10000} >"$dir/deep.json"
refused 'JSON without an end' '.*deep.json is not JSON: line 1, column 33: nested too deep' "$dir/deep.json"
refused 'the second of two' '.*cut.json is not JSON' "$dir/small.json" "$dir/cut.json"
refused 'a folder that is not there' "cannot write $dir/no/page.html: No such file" --html "$dir/no/page.html" "$dir/small.json"
refused 'a folder that is a file' "cannot write $dir/small.txt/page.html: Not a directory" --html "$dir/small.txt/page.html" "$dir/small.json"
refused 'a folder as page' "cannot write $dir/last: Is a directory" --html "$dir/last" "$dir/small.json"
refused 'a folder in which nobody may write' 'cannot write /proc/page.html: ' --html /proc/page.html "$dir/small.json"
refused 'a full disk' 'cannot write /dev/full: No space left' --html /dev/full "$dir/small.json"
cp "$dir/small.html" "$dir/kept.html"
refused 'an old page stays if the run is no good' '.*cut.json is not JSON' --html "$dir/kept.html" "$dir/cut.json"
check 'as it was' cmp -s "$dir/small.html" "$dir/kept.html"
check 'broken at random' /usr/bin/python3 "$here/tools/report/report_check.py" fuzz "$dir/small.json" "$hearth" "$dir/last"
exit $failed
