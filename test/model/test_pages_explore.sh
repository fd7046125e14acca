#!/usr/bin/env bash
# Explores all states of the code of src/pages, for more nodes and pages than unit_pages_explore does by default.
#   test_pages_explore.sh MPI TREE        tier: full; once: yes; timeout: 1500
tree=$2
exec "$tree/test/unit_pages_explore" large
