#!/usr/bin/env bash
# Tests the page of results with made-up tables: its rows, which claims are reached, lost or not run, and its HTML form.
# Also tests that the list of figures is complete, that a bench writes each of its keys, and that benches stop
# repeating when the interval is narrow enough.
#   test_results.sh MPI TREE       once: yes; tier: full; waits: yes; timeout: 240; coverage: no
# The MPI makes no difference: nothing is launched.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
bench=$here/../bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

. "$here/tools/check_files.sh"

# ---- made-up tables ----

mkdir -p "$dir/results/game" "$dir/results/empty"
cat >"$dir/figures.py" <<'PY'
from report.figures import Claim, Figure, Paper, above, at_least, at_most, below, highest, inverse, least, most, rows, total

PAPERS = [Paper("Games", 'of a <paper> & its "title"', notes=("first", "second"), figures=[
    Figure("1", "II", "what is fast", '"twice as fast | or more" (II)', setting="none", why="always said", lost="said only if lost",
           plot=("game/one.svg",), claims=[
        Claim("a ratio, side by side", rows("game/times", "seconds", who="slow"), rows("game/times", "seconds", who="fast"),
              pair=("round",), each=("mpi",), unit="x", given=2, goal=at_least(2))]),
    Figure("2", "III", "what is lost", "not given", setting="none", why="reason", lost="the limit that shows", claims=[
        Claim("the worst size", rows("game/times", "seconds", who="slow"), rows("game/sizes", "best", who="fast"), pick=highest("bytes"),
              unit="x", goal=at_most(1.5)),
        Claim("a share with its own interval", rows("game/sizes", "share", "low", "high", bytes=64), unit="%"),
        Claim("rates as times", inverse("game/sizes", "rate", bytes=at_most(64)), goal=below(0.3))]),
    Figure("3", "IV", "what was never measured", "not given", claims=[
        Claim("nothing", rows("absent/table", "seconds", who="slow"), goal=above(1)),
        Claim("a column that is not there", rows("game/times", "hours", who="slow"))]),
    Figure("4", "V", "without a goal", "not given", claims=[
        Claim("least and most", most("game/sizes", "share"), least("game/sizes", "share"), unit="x"),
        Claim("a part of a sum", total("game/sizes", "best", bytes=64), total("game/sizes", "best"), unit="%")])])]
PY
{
    echo mpi,round,who,seconds
    # each pair has the ratio 3, though a slow round affects both; the medians of all rounds would give another ratio
    for round in 1 2 3 4 5 6 7 8 9; do
        echo "openmpi,$round,fast,$((round * round))"
        echo "openmpi,$round,slow,$((3 * round * round))"
        echo "mpich,$round,fast,10"
        echo "mpich,$round,slow,$((20 + round % 3 - 2))"
    done
} >"$dir/results/game/times.csv"
printf 'who,bytes,best,share,low,high,rate\nfast,8,1,0.5,0.4,0.6,10\nfast,64,4,0.25,0.2,0.3,2.5\n' >"$dir/results/game/sizes.csv"
echo '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><title>one</title></svg>' >"$dir/results/game/one.svg"
echo 'a job that failed' >"$dir/results/game/failed.log"
check "the pages are made" env FIGURES="$dir/figures.py" "$bench/results.sh" "$dir/results"
csv=$dir/results/results.csv md=$dir/results/results.md html=$dir/results/results.html

row() { # figure, claim (a regular expression), setting: that line of results.csv
    grep -E "^\"Games\",\"$1\",\"$2\",\"$3\"," "$csv"
}

is() { # figure, claim, setting, rest of the line
    local got
    got=$(row "$1" "$2" "$3" | sed -E 's/^("[^"]*",){4}//')
    [ "$got" = "$4" ] || { echo "    got '$got', not '$4'" && false; }
}

check "pairs: ratio, interval, reached" is 1 'a ratio.*' 'Open MPI' '3,3,3,9,"","x",2,1.50,"at least 2",reached'
check "pairs of the other MPI: lost" is 1 'a ratio.*' MPICH '1.9,1.8,2,9,"","x",2,0.95,"at least 2",lost'
check "the worst of several is picked, and named" is 2 'the worst.*' '' '20,18,75,18,"bytes 8","x",,,"at most 1.5",lost'
check "an interval that the program gave" is 2 'a share.*' '' '25,20,30,,"","%",,,"",shown'
check "one by a rate" is 2 'rates.*' '' '0.25,0.1,0.4,2,"","",,,"below 0.3",reached'
check "a table that is not there" has "$csv" '"3","nothing",,,,,,,"",,,"above 1",not run$'
check "a column that is not there" has "$csv" '"3","a column.*not run$'
check "least and most" is 4 'least.*' '' '2,2,2,1,"","x",,,"",shown'
check "a part of a sum" is 4 'a part.*' '' '80,80,80,1,"","%",,,"",shown'
check "as many lines as claims and settings" [ "$(grep -c . "$csv")" = 10 ]

# ---- the page as text ----

check "a row for each figure" [ "$(grep -cE '^\| [1-4] \|' "$md")" = 4 ]
check "counted" has "$md" '^4 figures: 0 reached, 2 lost, 1 shown .*, 1 not run\. .*Games 1, Games 2'
check "value, interval and number of pairs" has "$md" 'Open MPI 3\.00x \[3\.00, 3\.00\], n = 9'
check "against the paper's number" has "$md" '1\. Open MPI 1\.50 of 2x'
check "a bar in a quote does not end the cell" has "$md" 'twice as fast \\\| or more'
check "lost, and why" has "$md" '^\| 2 .*\*\*lost\*\*.*reason.*the limit that shows'
check "how to run what was not" has "$md" 'not run: `bench/absent\.sh`'
check "jobs that failed are said" has "$md" '^- game: 1 of its jobs failed'
check "all rows have as many cells" awk -F'|' '/^\| / { line = $0; gsub(/\\\|/, "", line); if (split(line, part, "|") != 10) { print; bad = 1 } } END { exit bad }' "$md"

# ---- the page as HTML ----

cat >"$dir/page.py" <<'PY'
import sys
from html.parser import HTMLParser

class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.text, self.outside, self.rows = [], set(), [], '', [], 0

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        if tag not in ('meta', 'br', 'img'):
            self.open.append(tag)
        if 'id' in a:
            assert a['id'] not in self.ids, 'id twice: ' + a['id']
            self.ids.add(a['id'])
        if tag == 'a':
            self.links.append(a['href'])
        self.rows += tag == 'th' and a.get('scope') == 'row'
        for name in ('src', 'href'):
            if not a.get(name, '#').startswith(('#', 'data:')):
                self.outside.append(a[name])
        assert tag not in ('script', 'link', 'iframe'), tag

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, '%s closed in %s at %s' % (tag, self.open[-3:], self.getpos())
        self.open.pop()

    def handle_data(self, data):
        self.text += data

page = Page()
page.feed(open(sys.argv[1], encoding='utf-8').read())
page.close()
assert not page.open, page.open
assert not page.outside, 'not in the page: %s' % page.outside
assert all(link[1:] in page.ids for link in page.links), page.links
assert page.rows == int(sys.argv[2]), '%d rows' % page.rows
for words in sys.argv[3:]:
    assert words in page.text, 'not there: ' + words
PY
check "well-formed, whole, with nothing outside" python3 "$dir/page.py" "$html" 4 'of a <paper> & its "title"' 'lost' 'not run' '3.00x [3.00, 3.00], n = 9' 'Lost: the limit that shows'
check "the plot is in it" has "$html" '<img alt="Games 1: what is fast" src="data:image/svg\+xml;base64,'
check "what is not lost does not say why" lacks "$html" 'said only if lost.*shown'

# ---- nothing measured, and errors ----

mkdir "$dir/none"
check "without any table" env FIGURES="$dir/figures.py" "$bench/results.sh" "$dir/none"
check "all is not run" has "$dir/none/results.md" '^4 figures: 0 reached, 0 lost, 0 shown .*, 4 not run'
check "a folder that is not there is refused" eval '! "$bench/results.sh" "$dir/nowhere" 2>/dev/null'
sed -i 's/pair=/pairs=/' "$dir/figures.py"
check "a field that is none is refused" eval '! FIGURES="$dir/figures.py" "$bench/results.sh" "$dir/none" 2>/dev/null'

# ---- the list itself ----

list() { # EXPRESSION: prints its value for each figure of the list, one per line
    PYTHONPATH=$bench python3 -B -c "
from report.claims import PAPERS
for paper in PAPERS:
    for figure in paper.figures:
        for line in $1: print(line)"
}
check "its figures are those of the papers" diff <(list '[paper.name + " " + figure.name]' | sort) <(
    {
        printf 'CLaMPI %s\n' 1 2 3 7 8 9 10 11 12 13 14 15 16 17 18
        printf 'Matching %s\n' 1 4 5 6 7 8 9 10 'Table 1'
        printf 'ARMCI %s\n' 2 3 5 6 7 8 9
        printf 'vGASNet %s\n' 7 limits 8 9 10 11
        printf 'Windows %s\n' small large computing nodes
        printf 'Programs %s\n' lcc barnes-hut dft dgemm halo pgas
    } | sort
)
check "every figure has what a row needs" [ -z "$(list '[] if figure.section and figure.shows and figure.quote and figure.setting and figure.claims else [figure.name]')" ]

check "every claim names the script to run" eval 'bad=0; for script in $(list "[claim.script() for claim in figure.claims]" | sort -u); do [ -x "$here/../$script" ] || { echo "    $script" && bad=1; }; done; [ $bad = 0 ]'

# The tables of a bench with their columns, as its script declares them; for simulations also as the programs declare
# them.
tables() {
    local script name
    for script in "$bench"/*.sh "$bench"/*/*.sh; do
        name=$(basename "$script" .sh)
        bash -c "table() { echo \"${name//_/-}/\$1 \$2\"; }; csv=NAME; $(sed -nE 's/^ *(table [a-z0-9"$]+ .*)/\1/p; s/^([a-z]+=([a-z_,]+|"[a-z_ ]+"))$/\1/p' "$script" | grep -E '^table|=.*[, ]' | sort -u)"
    done | sed -E 's|^sim/NAME (.*)|sim/lcc \1\nsim/barnes-hut \1|'
    for name in flow pages; do
        printf 'sim/%s ' $name
        sed -nE '/fprintf\($/,/;$/s/^ *"(.*)"\)?;?,?$/\1/p' "$here/../sim/$name.c" | head -n 5 | tr -d '\n' | sed 's/\\n.*//'
        echo
    done
}
tables >"$dir/tables"
check "the tables of all benches are found" [ "$(wc -l <"$dir/tables")" -ge 25 ]

# Every table, column and word that the list names.
named() {
    list '[" ".join([side.table, column, *map(str, value if isinstance(value, tuple) else () if hasattr(value, "limit") else (value,))])
           for claim in figure.claims for side in (claim.over, claim.under) if side
           for column, value in [*((column, ()) for column in side.columns()), *side.filters.items()]]' | sort -u
}
check "every table and column is one that a bench writes" awk '
    NR == FNR { known[$1] = 1; n = split($2, part, ","); for (i = 1; i <= n; i++) column[$1, part[i]] = 1; next }
    !($1 in known) { print "    no table " $1; bad = 1; next }
    !(($1, $2) in column) { print "    no column " $2 " in " $1; bad = 1 }
    END { exit bad }' "$dir/tables" <(named)

sources_of() { # FOLDER OF RESULTS: the script and the programs that write its tables
    find "$bench" -path "$bench/report" -prune -o -type f -name "${1//-/_}*.*" -print
    [ "$1" != sim ] || ls "$here"/../sim/*.c
    [ "$1" != pgas ] || ls "$bench"/vgasnet/vgasnet_ex.c
    [ "$1" != vgasnet ] || ls "$bench"/armci/armci_link.c
}

words_known() { # words that filters name: each occurs in the sources that write the table
    local table column values word folder bad=0
    while read -r table column values; do
        folder=${table%%/*}
        for word in ${values//./ }; do
            [[ $word =~ ^[0-9.]+$ ]] && continue
            grep -qwF -- "$word" $(sources_of "$folder") || { echo "    $table: nothing writes $word for $column=$values" && bad=1; }
        done
    done < <(named | awk 'NF > 2')
    return $bad
}
check "every word too" words_known
check "plots are drawn by something" eval 'bad=0; for plot in $(list figure.plot); do name=$(basename "$plot" .svg); grep -qrE "${name%%_*}" "$bench"/report/plots || { echo "    $plot" && bad=1; }; done; [ $bad = 0 ]'

# ---- rounds until the interval is narrow enough ----

cat >"$dir/repeat.sh" <<'SH'
. "$1/common.sh"
bench=test out=$2 quick=0 here=$1
allow 100 100
table runs round,who,seconds
steady() { echo "$1,slow,$((300 + $1 % 2))"; echo "$1,fast,100"; }
wild() { echo "$1,slow,$((300 + 100 * ($1 % 3)))"; echo "$1,fast,100"; }
one() { $kind "$1" >>"$out/runs.csv"; }
kind=$3
alternate "a test" "$4" "$5" one runs value=seconds keys= base=who=fast >"$out/log"
tail -n 1 "$out/runs.csv" | cut -d, -f1
SH
rounds() { # KIND MOST PERCENT
    bash -euo pipefail "$dir/repeat.sh" "$bench" "$dir" "$@"
}
check "six rounds are the fewest for 95 %" [ "$(rounds steady 20 100)" = 6 ]
check "a wide interval takes all rounds" [ "$(rounds wild 20 100)" = 20 ]
check "or the time" [ "$(rounds wild 20 -1)" = 1 ]

# ---- bench/all.sh ----

mkdir -p "$dir"/copy/bench/{clampi,armci} "$dir/copy/test/cluster"
cp -r "$bench"/{all.sh,common.sh,results.sh,report} "$dir/copy/bench/"
cp "$here/cluster/hosts.sh" "$dir/copy/test/cluster/"
printf '#!/bin/sh\necho "bench-lcc: sleeps"\nexec sleep 200\n' >"$dir/copy/bench/clampi/lcc.sh"
printf '#!/bin/sh\necho "bench-dft: nothing is built"\nexit 1\n' >"$dir/copy/bench/armci/dft.sh"
printf '#!/bin/sh\nmkdir -p "$BUILD/results/modes" && echo "bench-modes: has $BENCH_SECONDS s, $*"\n' >"$dir/copy/bench/clampi/modes.sh"
sed -i 's/^grace=.*/grace=0/; s/|| grace=.*/|| grace=0/' "$dir/copy/bench/all.sh"
# Core 1 is slow in every second look.
mkdir -p "$dir/build/openmpi/bench"
printf '#!/bin/sh\necho x >>"$0.looks"\necho 0,100,104,150\necho 1,100,$((100 + $(wc -l <"$0.looks") %% 2 * 100)),250\n' >"$dir/build/openmpi/bench/cores"
chmod +x "$dir/copy/bench"/*.sh "$dir/copy/bench"/*/*.sh "$dir/build/openmpi/bench/cores"
began=$SECONDS
check "all of them" env BUILD="$dir/build" BENCH_MINUTES=1 "$dir/copy/bench/all.sh" --quick lcc dft halo modes >"$dir/all.log" 2>&1
check "a part that takes too long is ended, before the time of all is over" has "$dir/all.log" '^bench: lcc: ended after [1-4]?[0-9] s'
check "its lines were shown" has "$dir/all.log" '^bench-lcc: sleeps$'
check "progress" has "$dir/all.log" '^bench: 2 of 4: dft, at most [0-9]+ s; [0-9]+ s left for all'
check "a part that fails is said" has "$dir/all.log" '^bench: dft: exit status 1'
check "a part that is missing is said" has "$dir/all.log" '^bench: halo: not run: there is no bench/match/halo.sh'
check "a part is told its time" has "$dir/all.log" '^bench-modes: has [0-9]+ s, --quick$'
check "in time" [ $((SECONDS - began)) -lt 150 ]
check "the page is there, and says so" has "$dir/build/results/results.md" '^- halo: not run'
check "a core that was slow is said" has "$dir/build/results/results.md" '^- core 1 was slow in 3 of 5 looks, with down to 50 %'
check "a core that was not is not" lacks "$dir/build/results/results.md" '^- core 0'
check "an unknown part is refused" eval '! BUILD="$dir/build" "$dir/copy/bench/all.sh" nonsense 2>/dev/null'

exit $failed
