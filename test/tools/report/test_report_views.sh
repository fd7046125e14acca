#!/usr/bin/env bash
# Tests what hearth report makes of reports that need no run: pages of many ranks and nodes, CSV, groups of runs compared.
#   test_report_views.sh MPI TREE       quick: openmpi; timeout: 120
set -uo pipefail
tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
hearth=$tree/bin/hearth

. "$here/../check_files.sh"

sample() { # name, settings...
    /usr/bin/python3 "$here/report_sample.py" "$dir/$1.json" "${@:2}"
}

checked() { # what, name of the report, file
    /usr/bin/python3 "$here/report_check.py" "$1" "$dir/$2.json" "$3"
}

# ---- pages ----

sample few name='a "b", <i>c</i>' calls=9
sample nodes ranks=200 nodes=13
sample groups ranks=300 nodes=100
sample one ranks=130 nodes=1
for name in few nodes groups one; do
    check "$name: a page" "$hearth" report --html "$dir/$name.html" "$dir/$name.json"
    check "$name: its numbers are those of the JSON" checked page $name "$dir/$name.html"
    check "$name: every table scrolls in its own frame" test "$(grep -c '<table>' "$dir/$name.html")" = "$(grep -c '<div class="wide" tabindex="0" .*<table>$' "$dir/$name.html")"
done
check 'ranks are grouped by node' has "$dir/few.html" '<h3>node node1</h3>'
check 'many ranks are shown as nodes' has "$dir/nodes.html" '<div>node node12 '
check 'many nodes are shown in groups' has "$dir/groups.html" '<div>nodes? node0 to node1 '
check 'many ranks of one node, too' has "$dir/one.html" '<div>ranks 0 to 2 '
check 'functions beyond the first six are summed' has "$dir/few.html" 'data-call="other calls"'
check 'a dark page for those who prefer it' has "$dir/few.html" '^@media screen and \(prefers-color-scheme:dark\)'
check 'no colour that only one scheme has' lacks "$dir/few.html" '(fill|stroke|background)(=")?:?#[0-9a-f]{6}'
/usr/bin/python3 -c 'import json, sys
run = json.load(open(sys.argv[1]))
for p in run["processes"]: p["mpi"]["calls"], p["mpi"]["seconds"] = [{"call": "MPI_Send", "count": 9, "seconds": 0.001, "longest": 0.001}], 0.001
json.dump(run, open(sys.argv[2], "w"))' "$dir/few.json" "$dir/little.json"
check 'little time in MPI is drawn to its own scale' has <("$hearth" report "$dir/little.json" --html /dev/stdout) '<rect x="0" y="0" width="1000" .* data-call="MPI_Send">'

# ---- origins and targets, as text ----

sample most ranks=16 nodes=3
sample several ranks=40 nodes=4
for name in few most several one nodes groups; do
    "$hearth" report "$dir/$name.json" >"$dir/$name.txt"
    check "$name: bytes and time by origin and target" checked matrix $name "$dir/$name.txt"
done

# ---- CSV ----

for name in few nodes; do
    "$hearth" report --csv "$dir/$name.json" >"$dir/$name.csv"
    check "$name: CSV: its numbers are those of the JSON" checked csv $name "$dir/$name.csv"
done
check 'text with separators is quoted' has "$dir/few.csv" ',"a ""b"", <i>c</i>",transparent,'
check 'units are in the header' has <(head -n 1 "$dir/few.csv") '^table,group,report,partial,rank,node,.*,time \[s\],.*,bytes_served \[B\],'
"$hearth" report --csv=calls --output "$dir/calls.csv" "$dir/few.json"
check 'a single table has only its own columns' test "$(head -n 1 "$dir/calls.csv")" = 'table,group,report,partial,rank,node,call,calls,time [s],longest [s]'
check 'and its own rows' test "$(cut -d , -f 1 "$dir/calls.csv" | sort -u | paste -sd ' ')" = 'call table'
check 'several runs in one file' test "$("$hearth" report --csv=ranks "$dir/few.json" "$dir/one.json" | cut -d , -f 2 | sort -u | paste -sd ' ')" = 'A B group'

# ---- groups of runs ----

for seed in 1 2 3; do
    sample a$seed seed=$seed
    sample b$seed seed=1$seed faster=1.5 mode=acquire
    sample c$seed seed=2$seed noise=0.3 faster=1.2
done
cd "$dir" || exit 1
"$hearth" report a1.json,a2.json,a3.json b1.json,b2.json,b3.json c1.json,c2.json,c3.json >groups.txt
check 'a clear difference is named' has <(tr '\n' ' ' <groups.txt) 'B is 1\.5[0-9]? times faster than A: 6\.[0-9]+ s \(3 runs, 6\.[0-9]+ s to 6\.[0-9]+ s\) instead of 10\.'
check 'so is a clear difference in hits' has <(tr '\n' ' ' <groups.txt) 'Hit ratio of B: 0\.90 instead of 0\.10\.'
check 'one that is within the noise is not' has <(tr '\n' ' ' <groups.txt) 'Not clear whether C is faster or slower than A: .* these ranges overlap\.'
check 'nor in the table' has groups.txt '^seconds +10\.1[0-9]* .* -3[34]\.[0-9] % .* not clear$'
check 'equal counts have no change' has groups.txt '^gets +54000 +54000 +54000$'
check 'settings of groups' has groups.txt '^HEARTH_MODE +transparent +acquire +differs +transparent$'
check 'a colon separates groups, too' test "$("$hearth" report a?.json : b?.json : c?.json)" = "$(cat groups.txt)"
"$hearth" report a1.json,a2.json b1.json,b2.json >two.txt
check 'two runs of each are not enough' has <(tr '\n' ' ' <two.txt) 'Not clear whether B is faster .* at least 3 runs of each are needed\.'
check 'and no change is named' lacks two.txt '[0-9] %'
check 'one group: its spread' has <("$hearth" report a1.json,a2.json,a3.json) '^Run time: 10\.[0-9]+ s \(3 runs, 10\.[0-9]+ s to 10\.[0-9]+ s\)\.$'
cp a1.json 'a,1.json'
check 'a file with a comma in its name' has <("$hearth" report 'a,1.json') '^@ Report +: a,1\.json$'
"$hearth" report --html groups.html a?.json : b?.json : c?.json
check 'a page of groups, with the same words' has groups.html '<p id="verdict"><b>B is 1\.5[0-9]? times faster than A'
check 'all runs are drawn' test "$(grep -c '<path .*data-seconds=' groups.html)" = 9
for seed in 1 2 3; do # a run that failed early
    /usr/bin/python3 -c 'import json, sys
run = json.load(open(sys.argv[1]))
json.dump({"partial": "rank 1 called MPI_Abort after 0.1 s", **run}, open(sys.argv[2], "w"))' b$seed.json p$seed.json
done
"$hearth" report a?.json : p?.json >partial.txt
check 'partial runs are not compared' has <(tr '\n' ' ' <partial.txt) 'Not comparable: 3 of 3 runs of B did not reach MPI_Finalize\. *$'
check 'nor in the table' has partial.txt '^seconds +10\.1[0-9]* +[0-9.]+ +-$'
check 'nor what they counted' has partial.txt '^gets +54000 +-$'
check 'the reason is told' has partial.txt '^@ +partial +: rank 1 called MPI_Abort after 0\.1 s$'
"$hearth" report a1.json,a2.json,a3.json b1.json,b2.json,p3.json c1.json,c2.json,c3.json >partial.txt
check 'one partial run is enough' has <(tr '\n' ' ' <partial.txt) 'Not comparable: 1 of 3 runs of B did not reach MPI_Finalize\. Not clear whether C '
check 'a partial group is not compared with' has <("$hearth" report p1.json,p2.json,p3.json a1.json,a2.json,a3.json | tr '\n' ' ') 'Not comparable: 3 of 3 runs of A did not reach MPI_Finalize\. *$'
check 'nor is one alone timed' has <("$hearth" report p1.json,p2.json) '^Not comparable: 2 of 2 runs of A did not reach MPI_Finalize\.$'
"$hearth" report --html partial.html a?.json : p?.json
check 'a page of partial runs' has partial.html '<p id="verdict"><b>Not comparable: 3 of 3 runs of B'
check 'draws the others' test "$(grep -c '<path .*data-seconds=' partial.html)" = 3
check 'CSV has the reason' has <("$hearth" report --csv=ranks a1.json p1.json) '^rank,B,p1\.json,rank 1 called MPI_Abort after 0\.1 s,0,'
check 'on one axis' test "$(grep -oE '<div class="x"><span class="first" [^/]*0</span>.*[0-9] s</span></div>' groups.html | sort -u | wc -l)" = 1
exit $failed
