#!/usr/bin/env bash
# Faults in the model of credits and grants, one at a time: exploring its states must find each of them.
#   test_flow_mutants.sh MPI TREE         tier: full; once: yes; timeout: 240
exec "$(dirname "${BASH_SOURCE[0]}")/test_flow.sh" "$1" "$2" mutants
