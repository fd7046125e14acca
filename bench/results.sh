#!/usr/bin/env bash
# The page of results: all figures of the papers beside Hearth's, from the tables that the benches have left.
#
#   results.sh [FOLDER]      FOLDER: has the benches' folders; build/results (or under BUILD) by default
#
# Measures nothing. Writes results.md, results.html, results.csv and, in figures/, the plots that no single bench draws. Figures without
# measurements are marked "not run". Every number comes from a table, or is a quote in figures.def.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case "${1:-}" in
--help) usage 0 ;;
-*) usage 2 ;;
esac
folder=${1:-$build/results}
if [ ! -d "$folder" ]; then
    echo "results: no folder $folder: run make bench, or one of the benches, first" >&2
    exit 2
fi
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

describe() { # the machine, as the benches found it; the date, and failures of the benches
    local f
    for f in "$folder"/*/machine.md; do
        [ ! -e "$f" ] || { sed -n '1,2p' "$f" && break; }
    done
    [ ! -e "$folder/bench.md" ] || cat "$folder/bench.md"
    for f in "$folder"/*/failed.log; do
        [ ! -s "$f" ] || echo "- $(basename "$(dirname "$f")"): $(wc -l <"$f") of its jobs failed or ran out of time, and are missing below"
    done
}

# Draws plots from tables of several benches, and those of a bench that was ended before it drew its own.
draw() {
    local bench=results out=$folder
    mkdir -p "$folder/figures"
    plots results.gp ""
    rm -f "$folder/errors.log"
    bench=vgasnet out=$folder/vgasnet
    [ ! -s "$out/walk.csv" ] || [ -n "$(find "$out" -name '*.svg')" ] || plots vgasnet.gp "rates='none 450m paper'"
}

page() { # KIND FILE
    local tables=("$folder"/*/*.csv)
    [ -e "${tables[0]}" ] || tables=()
    awk -f "$here/interval.awk" -f "$here/figures.awk" -f "$here/results_$1.awk" -v machine="$work/machine.md" -v folder="$folder" \
        "${FIGURES:-$here/figures.def}" "${tables[@]}" >"$work/$2"
    mv "$work/$2" "$folder/$2"
}

describe >"$work/machine.md"
draw
page csv results.csv
page md results.md
page html results.html
awk -F, 'NR > 1 { n[$NF]++ } END { printf "results: of %d lines %d reached, %d lost, %d shown, %d not run: ", NR - 1, n["reached"], n["lost"], n["shown"], n["not run"] }' "$folder/results.csv"
echo "$folder/results.html"
