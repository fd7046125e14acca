#!/usr/bin/env bash
# All states of the code of src/pages, for more nodes and pages than unit_pages_explore takes by itself.
#   test_pages_explore.sh MPI TREE        tier: full; timeout: 1500
mpi=$1 tree=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if [ "$mpi" != openmpi ] && "$here/packaging/mpis.sh" openmpi >/dev/null 2>&1; then
    echo "needs no MPI: run once, for Open MPI"
    exit 77
fi
exec "$tree/test/unit_pages_explore" large
