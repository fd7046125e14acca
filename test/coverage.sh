#!/usr/bin/env bash
# Runs the quick tests on build/coverage and reports the lines and branches of the sources that they reach.
#   coverage.sh [OPTION OF test/run]...     writes build/coverage/html/index.html, and prints a line per folder. Without options, compares
#                                           the lines that are not reached with coverage/unreached.txt
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
out=build/coverage/html
find build/coverage -name '*.gcda' -delete
RECORD='' test/run -t coverage --slow 2 "$@" quick # code that counts is slower
passed=$?
mkdir -p $out
echo "coverage: reading the counts ..."
# The objects of src and tools, and those of the sources of tools that tests share. Other objects that tests make of src are compiled without
# optimisation: they have lines that the first do not have, even if these run them.
objects=(build/coverage/src build/coverage/tools build/coverage/test/CMakeFiles/test_tools.dir)
# fingerprint.h has its functions once per instruction set, at different lines, which gcovr 5 does not merge.
gcovr --root . --filter 'src/' --filter 'tools/' --exclude 'src/match/fast/fingerprint.h' --gcov-ignore-parse-errors --exclude-throw-branches --html-details $out/index.html \
    --json-summary $out/summary.json --json $out/counts.json "${objects[@]}" >$out/gcovr.log 2>&1 || {
    tail -n 5 $out/gcovr.log
    echo "coverage: gcovr failed, see $out/gcovr.log" >&2
    exit 1
}
python3 - $out/summary.json <<'P' | tee $out/folders.txt
import collections
import json
import os
import sys

folders = collections.defaultdict(lambda: [0, 0, 0, 0])
for file in json.load(open(sys.argv[1]))["files"]:
    parts = os.path.dirname(file["filename"]).split(os.sep)
    for name in {os.sep.join(parts[:2]), "all"}:
        for i, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
            folders[name][i] += file[key]
print(f"{'folder':<16} {'lines':>14} {'branches':>18}")
for name, (lines, all_lines, branches, all_branches) in sorted(folders.items(), key=lambda f: (f[0] == "all", f[0])):
    print(f"{name:<16} {lines:>6} {100 * lines / max(1, all_lines):6.1f} % {branches:>9} {100 * branches / max(1, all_branches):6.1f} %")
P
[ $# -gt 0 ] || test/coverage/unreached.py $out/counts.json || passed=1
if [ -n "${RECORD:-}" ] && [ $# = 0 ]; then
    reached=$(awk '$1 == "all" { print $3 " % of the lines and " $6 " % of the branches are reached" }' $out/folders.txt)
    [ $passed = 0 ] || reached="$reached; status $passed"
    test/status/record.py coverage --seconds $SECONDS --junit build/test-logs/junit.xml --note "$reached"
fi
echo "coverage: $out/index.html"
exit $passed
