#!/usr/bin/env bash
# Tests invalid settings: one line of the job names the variable, the value and the range, the default is used, and the program
# continues.   test_settings.sh MPI TREE      quick: openmpi
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Runs the smoke test with a setting; expects it to pass, and one warning that matches, for all ranks.
expect() { # K=V, regular expression, prefix and number of ranks in the line, command before the program...
    local out who=${3:-'0\]: warning: '} ranks=${4-' \(on all 2 ranks\)'}
    out=$("$here/launch.sh" "$mpi" 2 --preload "$tree/lib/libhearth-mpi.so" --env "$1" "${@:5}" "$tree/test/mpi_smoke" 2>&1)
    local status=$?
    if [ $status != 0 ] || [ "$(grep -cE "^hearth\[$who$2.*$ranks\$" <<<"$out")" != 1 ] || [ "$(grep -c '^hearth' <<<"$out")" != 1 ]; then
        echo "FAIL $1: exit status $status, expected one line like: $2$ranks"
        sed 's/^/    | /' <<<"$out"
        failed=1
    else
        echo "ok $1: $(grep -m 1 -E "$2" <<<"$out")"
    fi
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
echo 'int MPI_Init(int *, char ***); int MPI_Finalize(void); int main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }' >"$dir/nothing.c"
"$cc" "$dir/nothing.c" -o "$dir/nothing" || exit 1

expect HEARTH_MODE=sometimes 'HEARTH_MODE=sometimes is not one of transparent\|always\|user\|off\|acquire\|auto; using the default'
expect HEARTH_CACHE_SIZE=1 'HEARTH_CACHE_SIZE=1 is not a whole number from 64 to 1e\+15'
expect HEARTH_CACHE_SIZE=12q 'HEARTH_CACHE_SIZE=12q is not a whole number'
expect HEARTH_HELPERS=-3 'HEARTH_HELPERS=-3 is not a whole number from 1 to 64'
expect HEARTH_BUFFER_MEMORY=nan 'HEARTH_BUFFER_MEMORY=nan is not a number from 1e-09 to 1'
expect HEARTH_INDEX_SIZE=99999999999999999999 'HEARTH_INDEX_SIZE=9+ is not a whole number from 4 to 1e\+09'
expect HEARTH_FOO=1 'HEARTH_FOO is not a setting of Hearth \(on all 2 ranks\)' '' ''
expect HEARTH_CASHE_SIZE=1m 'HEARTH_CASHE_SIZE is not a setting of Hearth; did you mean HEARTH_CACHE_SIZE\?'
expect HEARTH_SPARSE_THRESHOLD=9 'HEARTH_SPARSE_THRESHOLD is not a setting of Hearth'
# A rank alone, one program without windows, and where all ranks communicate in MPI_Init.
printf '#!/bin/sh\n[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export HEARTH_MODE=sometimes\nexec "$@"\n' >"$dir/alone"
chmod +x "$dir/alone"
expect HEARTH_LOG=warn 'HEARTH_MODE=sometimes is not one of' '1\]: warning: ' ' \(on 1 of 2 ranks\)' "$dir/alone"
expect HEARTH_MODE=sometimes 'HEARTH_MODE=sometimes is not one of' '0\]: warning: ' ' \(on all 2 ranks\)' env HEARTH_MATCH=1
expect HEARTH_MODE=sometimes 'HEARTH_MODE=sometimes is not one of' '0\]: warning: ' '' "$dir/nothing"
# ARMCI and vGASNet, with libhearth-mpi beside them.
for program in armci_groups gas_barrier; do
    [ ! -x "$tree/test/$program" ] ||
        expect HEARTH_MODUS=1 'HEARTH_MODUS is not a setting of Hearth; did you mean HEARTH_MODE\?' '0\]: warning: ' '' sh -c 'exec "$0"' "$tree/test/$program"
done
# Windows of one rank each do not make each rank complain.
[ "$mpi" = openmpi ] || { # which makes no windows on one process
    cat >"$dir/self.c" <<'END'
#include <mpi.h>
int main(void) {
    MPI_Win win;
    void *base;
    MPI_Init(0, 0);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &base, &win);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
END
    "$cc" "$dir/self.c" -o "$dir/self" || exit 1
    expect HEARTH_MODE=sometimes 'HEARTH_MODE=sometimes is not one of' '0\]: warning: ' '' "$dir/self"
}
exit $failed
