#!/bin/sh
# Checks test/coverage/unreached.txt: its form, that each reason is defined and used, and that the files and functions exist; and that
# unreached.py finds what it must: a function that is not named, more lines than named, a stale entry.
set -u
cd "$(dirname "$0")/../.." || exit 1
test/coverage/unreached.py --lint || exit 1

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/list" <<'L'
@rare reached in some runs
src/a.c named 2 a reason
src/a.c exceeded 1 a reason
src/a.c covered 1 a reason
src/a.c sometimes 3~ @rare
L
cat >"$dir/counts" <<'J'
{"files": [{"file": "src/a.c",
  "functions": [{"name": "named", "lineno": 1}, {"name": "exceeded", "lineno": 10}, {"name": "covered", "lineno": 20},
                {"name": "forgotten", "lineno": 30}, {"name": "sometimes", "lineno": 40}],
  "lines": [{"line_number": 2, "count": 0}, {"line_number": 3, "count": 0}, {"line_number": 4, "count": 1},
            {"line_number": 11, "count": 0}, {"line_number": 13, "count": 0}, {"line_number": 21, "count": 5},
            {"line_number": 31, "count": 0}, {"line_number": 41, "count": 2}]}]}
J
cat >"$dir/expected" <<'E'
not reached and not named: src/a.c exceeded: 2 lines, of which 1 are named: 11, 13
not reached and not named: src/a.c forgotten: 1 lines: 31
stale: covered of src/a.c: 0 lines are not reached, 1 are named
coverage: 5 lines of 3 functions are not reached; 2 are named with a reason; 2 functions with others, 1 stale entries
E
test/coverage/unreached.py "$dir/counts" "$dir/list" >"$dir/found" && { echo "unreached.py finds nothing" && exit 1; }
sed -i 's/^.*list:[0-9]*: //' "$dir/found"
diff "$dir/expected" "$dir/found" || { echo "unreached.py finds something else" && exit 1; }
