#!/usr/bin/env bash
# Mutation test of the model of credits and grants: exploring its states must find each fault.
#   test_flow_mutants.sh MPI TREE         tier: full; once: yes; timeout: 240
exec "$(dirname "${BASH_SOURCE[0]}")/test_flow.sh" "$1" "$2" mutants
