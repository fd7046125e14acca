#!/usr/bin/env bash
# Tests hearth report: the numbers of real runs as text and as a page, two runs side by side, and refused input.
#   test_tool_report.sh MPI TREE       quick: openmpi; timeout: 180
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
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

check() { # name, command...
    local what=$1
    shift
    if "$@"; then echo "ok $what"; else echo "FAIL $what" && failed=1; fi
}

has() { # file, regular expression: some line matches
    grep -qE -- "$2" "$1" || { sed 's/^/    | /' "$1" && false; }
}

lacks() { # file, regular expression
    ! grep -nE -- "$2" "$1"
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
check 'its numbers are those of the JSON' /usr/bin/python3 "$here/tools/report_check.py" text "$dir/small.json" "$dir/small.txt"
check 'the header' has "$dir/small.txt" '^@ Ranks +: 2 on 1 node$'
check 'the settings' has "$dir/small.txt" '^@ Setting +: HEARTH_CACHE_SIZE=16k$'
check 'the advice' has "$dir/small.txt" "^window '</script>.*: [0-9]+ % capacity misses; with 128 KB the hit ratio would be 0.9[78]"
check 'two places, each with its window' test "$(grep -cE "^ +[12] .*('</script>.* read_loop|'plain' .*read_again) \(gets\+0x[0-9a-f]+\)$" "$dir/small.txt")" = 2
touch -d '+1 hour' "$dir/gets"
check 'no names from a program that was changed since' has <("$hearth" report "$dir/small.json") "^ +1 .* gets\+0x[0-9a-f]+$"
touch -d '-1 hour' "$dir/gets"
check 'sizes' has "$dir/small.txt" '^ +1 KB +5120 '

check 'a page' "$hearth" report --html "$dir/small.html" "$dir/small.json"
check 'its numbers are those of the JSON' /usr/bin/python3 "$here/tools/report_check.py" page "$dir/small.json" "$dir/small.html"
check 'for all to read, as any new file' test "$(stat -c %a "$dir/small.html")" = "$(touch "$dir/new" && stat -c %a "$dir/new")"
check 'it asks for nothing elsewhere' lacks "$dir/small.html" 'https?:|url\(|@import'
check 'an older page is replaced' "$hearth" report "$dir/small.json" --html "$dir/small.html"
check 'a page to where no file can be' "$hearth" report "$dir/small.json" --html /dev/null

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

# ---- not recorded ----

run plain.json HEARTH_RECORD=off
"$hearth" report "$dir/plain.json" >"$dir/plain.txt" && "$hearth" report "$dir/plain.json" --html "$dir/plain.html"
check 'what was not recorded is said in the text' has "$dir/plain.txt" 'HEARTH_RECORD=off'
check 'the rest is there' /usr/bin/python3 "$here/tools/report_check.py" text "$dir/plain.json" "$dir/plain.txt"
check 'what was not recorded is said on the page' test "$(grep -c 'class="missing">Not recorded' "$dir/plain.html")" = 8
check 'the rest is there' /usr/bin/python3 "$here/tools/report_check.py" page "$dir/plain.json" "$dir/plain.html"

# ---- one report per rank; the report of one rank ----

run own.%r.json
"$hearth" report "$dir/own.1.json" >"$dir/own.txt"
check 'the report of one rank' test $? = 0
check 'its numbers' /usr/bin/python3 "$here/tools/report_check.py" text "$dir/own.1.json" "$dir/own.txt"

# ---- two runs ----

run large.json HEARTH_CACHE_SIZE=1m
"$hearth" report "$dir/small.json" "$dir/large.json" >"$dir/both.txt"
check 'two runs: settings that differ' has "$dir/both.txt" '^HEARTH_CACHE_SIZE +16k +1m +differs$'
check 'two runs: windows belong together by name' has "$dir/both.txt" "^@--- Window 'plain' "
check 'two runs: in short' has "$dir/both.txt" '^hit ratio 0\.[0-9]+ -> 0\.[89][0-9]; [0-9.]+ MB less through MPI; '
check 'two runs: a page' "$hearth" report --html "$dir/both.html" "$dir/small.json" "$dir/large.json"
check 'with the same words' has "$dir/both.html" "$(grep -oE 'hit ratio 0\.[0-9]+ -&gt; [^;]*' "$dir/both.html" | head -n 1)"
check 'and no more markup than its own' lacks "$dir/both.html" '<script'
check 'one run beside itself' has <("$hearth" report "$dir/small.json" "$dir/small.json") '^gets +5920 +5920 *$'

# ---- refused input ----

refused 'no file' 'hearth report takes one or two runs'
refused 'three files' 'hearth report takes one or two runs' a b c
refused 'an unknown option' 'unknown option --pdf' --pdf x "$dir/small.json"
refused 'an option without its value' 'option --html needs a value' "$dir/small.json" --html
refused 'a file that is not there' "cannot read $dir/none.json: No such file" "$dir/none.json"
refused 'a folder' "cannot read $dir: Is a directory" "$dir"
: >"$dir/empty.json"
refused 'an empty file' '.*empty.json is not JSON: line 1, column 1: the file ends in the middle' "$dir/empty.json"
head -c 3000 "$dir/small.json" >"$dir/cut.json"
refused 'a truncated file' '.*cut.json is not JSON: line [0-9]+, column [0-9]+: the file ends in the middle' "$dir/cut.json"
sed '9s/:/;/' "$dir/small.json" >"$dir/odd.json"
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
check 'broken at random' /usr/bin/python3 "$here/tools/report_check.py" fuzz "$dir/small.json" "$hearth" "$dir/last"
exit $failed
