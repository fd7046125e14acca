#!/usr/bin/env bash
# Tests the package that writes the reports of the benches: reading tables, medians and intervals, claims, and that
# each report can be written.
#   test_report.sh MPI TREE       once: yes; timeout: 60
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PYTHONPATH=$here/../../bench exec python3 -B "$here/report_test.py"
