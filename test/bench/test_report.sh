#!/usr/bin/env bash
# Tests the package that writes the reports of the benches: reading tables, medians and intervals, claims, and that
# each report can be written.
#   test_report.sh MPI TREE       once: yes; timeout: 60; coverage: no
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../bench/common.sh" # sets PYTHON, and here
PYTHONPATH=$here exec "$PYTHON" -B "$here/../test/bench/report_test.py"
