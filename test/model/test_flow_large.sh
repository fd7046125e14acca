#!/usr/bin/env bash
# Runs the sizes of test_flow.sh that take minutes.
#   test_flow_large.sh MPI TREE           tier: full; once: yes; timeout: 1500
exec "$(dirname "${BASH_SOURCE[0]}")/test_flow.sh" "$1" "$2" large
