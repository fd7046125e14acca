#!/usr/bin/env bash
# Repeats failures of test_calls.sh that once made a job hang: no UCX endpoint, on GASNet and on ARMCI; on GASNet, all file
# operations from the middle on, which is while segments are attached.
#   test_calls_quick.sh MPI TREE      quick: mpich; timeout: 120
exec "$(dirname "${BASH_SOURCE[0]}")/test_calls.sh" "$1" "$2" memory:endpoints:1 armci:endpoints:1 memory:files:50%:on
