#!/bin/sh
# Checks that doc/status.md and doc/results.md are what their data generates, and tests the generators, and the tool that records
# runs, on small data.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
faults=0
fail() {
    echo "$1"
    faults=$((faults + 1))
}

doc/status.py --check || faults=1
doc/results.py --check || faults=1

# ---- a run that is recorded ----

cat >"$dir/log" <<'L'
FAIL   mpi_sync.mpich.on: exit status 1
skip   test_one.mpich: it is not installed
FAIL   mpi_sync.mpich.on: exit status 1
10 passed, 1 failed, 1 skipped
L
mkdir "$dir/records"
record() {
    test/status/record.py "$@" --platform here --seconds 90 --mpi 'MPICH 4' --folder "$dir/records" >"$dir/said" 2>&1
}
record builds --log "$dir/log" "$dir/log" --passed 2 --note 'a note' || fail "record.py failed: $(cat "$dir/said")"
record mpis --passed 3 || fail 'record.py failed without a log'
record fuzz && fail 'record.py recorded a run of nothing'
doc/status.py "$dir/records" "$dir/page" || fail 'status.py failed'
shows() { grep -qF -- "$1" "$dir/page" || fail "the page does not show: $1"; }
shows '| builds (`make test-builds`) | here | `'
shows '| 22 | 2 | 2 | 1.5 | '
shows '| 3 | 0 | 0 | 1.5 | '
shows '- builds, here: `mpi_sync.mpich.on`: exit status 1'
shows '- builds, here: `test_one.mpich`: it is not installed'
shows '- builds, here: a note'
shows '- quick (`make test`)'
doc/status.py --check "$dir/records" "$dir/page" || fail 'a page that was just written differs'
said=$(doc/status.py --release 0123abc "$dir/records")
[ "$(wc -l <<S
$said
S
)" = 10 ] || fail "without a run of the commit status.py --release says: $said"
mkdir "$dir/release"
for tier in quick full nightly loaded x86 foreign mpis builds coverage fuzz; do
    sed "s/\"tier\": .*/\"tier\": \"$tier\",/; s/\"commit\": .*/\"commit\": \"0123abcd\",/; s/\"dirty\": .*/\"dirty\": false,/" \
        "$dir/records/mpis-here.json" >"$dir/release/$tier-here.json"
done
doc/status.py --release 0123abc "$dir/release" >/dev/null || fail 'status.py --release does not accept runs of all tiers'
sed -i 's/"dirty": .*/"dirty": true,/' "$dir/release/full-here.json"
doc/status.py --release 0123abc "$dir/release" | grep -q 'tier full' || fail 'status.py --release accepts a run with changes'
sed -i 's/"passed": 3/"passed": 4/' "$dir/records/mpis-here.json"
doc/status.py --check "$dir/records" "$dir/page" >/dev/null && fail 'a page that differs from its data is not found'
mv "$dir/records/mpis-here.json" "$dir/records/mpis-there.json"
doc/status.py "$dir/records" "$dir/page" 2>/dev/null && fail 'a record under another name is accepted'

cat >"$dir/junit.xml" <<'X'
<testsuite><testcase classname="all" name="lint_one" time="1"/>
<testcase classname="mpich.on" name="mpi_two" time="1"><failure type="flaky" message="once"></failure></testcase>
<testcase classname="mpich" name="test_three" time="1"><skipped message="no tool"/></testcase></testsuite>
X
record coverage --junit "$dir/junit.xml" || fail 'record.py cannot read junit.xml'
python3 - "$dir/records/coverage-here.json" <<'P' || fail 'the record of junit.xml differs'
import json, sys
found = json.load(open(sys.argv[1]))
assert [found[key] for key in ("passed", "failed", "skipped", "minutes")] == [1, 1, 1, 1.5]
assert found["failures"] == [{"name": "mpi_two.mpich.on", "reason": "flaky: once"}] and found["skips"] == [{"name": "test_three.mpich", "reason": "no tool"}]
P

# ---- a run of test/run ----

python3 -B - "$dir" <<'P' || fail 'status.py of the runner records a run of test/run wrongly'
import json, sys, types
sys.path.insert(0, "test")
from runner import status
from runner.job import Result

class Report:
    began = 0
    results = [Result("a", "passed", 1, ""), Result("b", "failed", 1, "", "exit status 1"), Result("c", "flaky", 1, "", "killed"), Result("d", "skipped", 1, "", "no d")]
    def count(self, *kinds): return sum(result.status in kinds for result in self.results)
    def failures(self): return [result for result in self.results if result.status in ("failed", "flaky")]

written, whole = [], status.write
status.write = lambda *arguments: written.append(whole(*arguments, place="run", versions=[], folder=sys.argv[1])) or status.ROOT / "x"
chosen = types.SimpleNamespace(record=True, k="", m=None, t=None, tier="quick")
sys.stdout = sys.stderr = open("/dev/null", "w")
status.record_run(types.SimpleNamespace(**{**vars(chosen), "k": "mpi_"}), Report())
status.record_run(types.SimpleNamespace(**{**vars(chosen), "record": False}), Report())
assert written == []
status.record_run(chosen, Report())
found = json.loads(written[0].read_text())
assert [found[key] for key in ("tier", "passed", "failed", "skipped")] == ["quick", 1, 2, 1], found
assert found["failures"] == [{"name": "b", "reason": "failed: exit status 1"}, {"name": "c", "reason": "flaky: killed"}]
assert len(found["commit"]) == 40 if found["commit"] else True
P

# ---- results ----

mkdir "$dir/results"
cat >"$dir/results/programs.json" <<'J'
{"title": "Programs", "command": "make bench", "machines": {"One": {"processor": "P", "cores": 2, "date": "today"}},
 "rows": [{"program": "lcc", "does": "d", "against": "a", "mpi": "MPICH", "key": ["lcc", "c", "MPICH"], "times": {}}]}
J
cat >"$dir/results.csv" <<'C'
paper,figure,claim,setting,ours,low,high
"Programs","lcc","c","MPICH",7.25,6.9,12.4
C
doc/results.py --take "$dir/results.csv" One "$dir/results" >/dev/null || fail 'results.py takes nothing of results.csv'
doc/results.py "$dir/results" "$dir/page" || fail 'results.py failed'
shows '| lcc | d | a | MPICH | 7.2 (6.9 to 12) |'
doc/results.py --take "$dir/results.csv" Two "$dir/results" 2>/dev/null && fail 'results.py takes figures of an unknown machine'
[ $faults = 0 ]
