#!/usr/bin/env bash
# Runs the programs of this folder on the distribution's ARMCI-MPI: a failure there too is not a fault of our ARMCI.
#   stock.sh MPI RANKS [NAME]...        NAME: a program (default: all)
set -uo pipefail
[ $# -ge 2 ] || { sed -n '3s/^# *//p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mpi=$1 ranks=$2 failed=0 env=()
shift 2
cc=$("$here/../../packaging/mpis.sh" "$mpi") || { echo "no $mpi here" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
libraries=("-lga-$mpi" "-larmci-$mpi" "-lscalapack-$mpi" -llapack -lblas -lgfortran -lm)
# Windows that MPICH 4.0 allocates are wrong between processes of one node. Open MPI can make windows of one process
# only by allocating them.
[ "$mpi" != mpich ] || env=(--env ARMCI_USE_WIN_ALLOCATE=0)

source_of() { # name
    find "$here" -name "$1.c" -o -name "$1.F90"
}

build() { # name
    if [ "$1" = fortran ]; then
        "$("$here/../../packaging/mpis.sh" "$mpi" mpifort)" -O1 -g -w -std=legacy -fdefault-integer-8 "$(source_of "$1")" -o "$dir/$1" "${libraries[@]}"
    else
        "$cc" -std=gnu11 -O2 -g -D_GNU_SOURCE -I"$here" -I"$here/.." "$(source_of "$1")" "$here/../frame/frame.c" "$here/check.c" "$here/grid.c" -o "$dir/$1" "${libraries[@]}"
    fi
}

if [ $# = 0 ]; then
    for name in $(find "$here" -name '*.c' -o -name '*.F90' | sed 's,.*/,,; s,\..*,,' | sort); do
        case $name in check | grid | fail) ;; *) set -- "$@" "$name" ;; esac
    done
fi
for name; do
    build "$name" || exit 1
    if "$here/../launch.sh" "$mpi" "$ranks" --timeout 120 "${env[@]}" "$dir/$name" >"$dir/log" 2>&1; then
        echo "ok   $name"
    else
        echo "FAIL $name"
        grep -E 'FAIL|expected|ARMCI Error|assert|MPI_ERR' "$dir/log" | head -n 8 | sed 's/^/    | /'
        failed=1
    fi
done
exit $failed
