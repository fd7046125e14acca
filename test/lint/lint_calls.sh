#!/bin/sh
# Checks that doc/coverage.md, which is generated, is up to date, and that src/mpi/standard.txt has all calls that the installed MPIs
# declare.
set -u
cd "$(dirname "$0")/../.." || exit 1
doc/coverage.sh --check || exit 1

headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
bad=0
for mpi in $(packaging/mpis.sh 2>/dev/null) abi; do
    compiler=$(packaging/mpis.sh "$mpi") || continue
    "$compiler" -E -P -x c src/mpi/host/declared.h >"$headers" || exit 1
    for call in $(doc/coverage.sh --unlisted "$headers"); do
        echo "src/mpi/standard.txt lacks MPI_$call, which $mpi declares"
        bad=1
    done
done
exit $bad
