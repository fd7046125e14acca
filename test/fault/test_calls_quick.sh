#!/usr/bin/env bash
# Some of the failures of test_calls.sh, each of which made the job hang once: no endpoint of UCX, on GASNet and on ARMCI; files that
# fail while segments are attached, and from then on.
#   test_calls_quick.sh MPI TREE      quick: mpich; timeout: 120
exec "$(dirname "${BASH_SOURCE[0]}")/test_calls.sh" "$1" "$2" memory:endpoints:1 armci:endpoints:1 memory:files:50%:on
