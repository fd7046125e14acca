#!/usr/bin/env bash
# Runs the sizes of test_lock_table.sh that take minutes.
#   test_lock_table_large.sh MPI TREE           tier: full; once: yes; timeout: 1300
exec "$(dirname "${BASH_SOURCE[0]}")/test_lock_table.sh" "$1" "$2" large
