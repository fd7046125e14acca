#!/usr/bin/env bash
# picture.sh: draws doc/speedups.svg, the picture of doc/results.md, from the results of `make bench` or `make bench-quick`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
csv=build/results/results.csv
[ -e "$csv" ] || { echo "picture: no $csv: run make bench-quick first" >&2 && exit 2; }
PYTHONPATH=bench python3 -B -m report picture "$csv" >doc/speedups.svg.new
mv doc/speedups.svg.new doc/speedups.svg
