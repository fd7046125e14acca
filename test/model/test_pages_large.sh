#!/usr/bin/env bash
# Runs the sizes of test_pages.sh that take minutes.
#   test_pages_large.sh MPI TREE          tier: full; once: yes; timeout: 2400
exec "$(dirname "${BASH_SOURCE[0]}")/test_pages.sh" "$1" "$2" large
