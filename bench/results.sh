#!/usr/bin/env bash
# The page of results: all figures of the papers beside Hearth's, from the tables that the benches have left.
#
#   results.sh [FOLDER]      FOLDER: has the benches' folders; build/results (or under BUILD) by default
#
# Measures nothing. Writes results.md, results.html, results.csv and, in figures/, the plots that no single bench
# draws. Figures without measurements are marked "not run". Every number comes from a table, or is a quote in
# report/claims. FIGURES: a Python file with another list.
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
bench_report results "$folder" ${FIGURES:+figures="$FIGURES"}
