#!/usr/bin/env bash
# Tests how hearth run and hearth info treat programs for the standard ABI of MPI 5.0. No MPI is needed that has it: empty libraries
# stand for libmpi_abi.so.1 of MPICH and of Open MPI, which differ in the libraries that they need, and for libhearth-mpi.so; empty
# scripts stand for the launchers. `make test-mpis SUITES=sid` uses the real ones.
# test_run_abi.sh MPI TREE      once: yes
set -uo pipefail
tree=$2 failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{bin,home/bin,home/lib/hearth/abi,mpich,openmpi} || exit 1
cp "$tree/bin/hearth" "$dir/home/bin/" || exit 1
export XDG_CACHE_HOME=$dir/cache

library() { # file, name that the linker records, its source, libraries that it needs
    local file=$1 name=$2 text=$3
    shift 3
    gcc -shared -fPIC -x c - -x none -Wl,--no-as-needed "$@" -Wl,-soname,"$name" -o "$file" <<<"$text" || exit 1
}
library "$dir/openmpi/libopen_mpi.so.40" libopen_mpi.so.40 ''
library "$dir/openmpi/libmpi_abi.so.1" libmpi_abi.so.1 'int MPI_Host(void) { return 6; }' "$dir/openmpi/libopen_mpi.so.40"
library "$dir/mpich/libmpi_abi.so.1" libmpi_abi.so.1 'int MPI_Host(void) { return 5; }'
library "$dir/home/lib/hearth/abi/libhearth-mpi.so" libhearth-mpi.so 'int hearth_is_here = 1;' "$dir/mpich/libmpi_abi.so.1"
gcc -x c - -x none -Wl,--no-as-needed "$dir/mpich/libmpi_abi.so.1" -Wl,-rpath,"$dir/default" -o "$dir/program" <<'END_OF_PROGRAM' || exit 1
#include <stdio.h>
int MPI_Host(void);
extern int hearth_is_here __attribute__((weak));
int main(void) { return printf("major %d, %s\n", MPI_Host(), &hearth_is_here ? "preloaded" : "alone") < 0; }
END_OF_PROGRAM
# Fortran of Open MPI needs its own interface; a program may have C of the ABI, too.
library "$dir/openmpi/libmpi.so.40" libmpi.so.40 '' "$dir/openmpi/libopen_mpi.so.40"
library "$dir/openmpi/libmpi_mpifh.so.40" libmpi_mpifh.so.40 '' "$dir/openmpi/libmpi.so.40"
build() { # program, libraries
    gcc -x c - -x none -Wl,--no-as-needed -Wl,-rpath-link,"$dir/openmpi" "${@:2}" -o "$dir/$1" <<<'int main(void) { return 0; }' || exit 1
}
build fortran "$dir/openmpi/libmpi_mpifh.so.40" "$dir/openmpi/libmpi.so.40"
build mixed "$dir/openmpi/libmpi_mpifh.so.40" "$dir/openmpi/libmpi_abi.so.1"
build mixed_too "$dir/openmpi/libmpi.so.40" "$dir/openmpi/libmpi_abi.so.1"
for name in mpich openmpi; do # each runs its program once
    printf '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift 2; done\necho by %s\nexec "$@"\n' $name >"$dir/bin/mpirun.$name"
    chmod +x "$dir/bin/mpirun.$name"
done

out='' status=0 libraries=$dir/mpich
hearth() { # arguments
    out=$(cd "$dir" && PATH=$dir/bin:$PATH LD_LIBRARY_PATH=$libraries timeout -k 5 60 "$dir/home/bin/hearth" "$@" 2>&1 </dev/null)
    status=$?
}

check() { # name, exit code, regular expression that one line matches
    if [ "$status" = "$2" ] && [ "$(grep -cE -- "$3" <<<"$out")" = 1 ]; then
        echo "ok $1"
    else
        echo "FAIL $1: exit code $status instead of $2, or not one line like: $3"
        sed 's/^/    | /' <<<"$out"
        failed=1
    fi
}

hearth run -v ./program
check 'the MPI is recognised' 0 "^hearth: ./program uses abi: .*/program needs $dir/mpich/libmpi_abi.so.1, MPICH; tested with MPICH 5"
check 'the library of the ABI is chosen' 0 "LD_PRELOAD=$dir/home/lib/hearth/abi/libhearth-mpi.so"
check 'and preloaded' 0 '^major 5, preloaded$'
hearth run -n 1 ./program
check 'the launcher is that of the MPI whose library is found: MPICH' 0 '^by mpich$'
hearth run mpirun.mpich -n 1 ./program
check 'a launcher of this MPI' 0 '^major 5, preloaded$'
hearth run mpirun.openmpi -n 1 ./program
check 'a launcher of the other' 2 "error: ./program uses the standard ABI, and would load $dir/mpich/libmpi_abi.so.1 of mpich, but mpirun.openmpi is the launcher of openmpi: put"
hearth run --mpi abi mpirun.openmpi -n 1 ./program
check 'the user knows better' 0 '^by openmpi$'
hearth run --mpi mpich mpirun.mpich -n 1 ./program
check 'an MPI that contradicts the program' 2 'error: --mpi mpich, but ./program uses abi .*needs libmpi_abi.so.1'
hearth info
check 'hearth info' 0 "^abi +$dir/home/lib/hearth/abi/libhearth-mpi.so, for $dir/mpich/libmpi_abi.so.1$"
check 'hearth info names the MPI' 0 '^ +MPICH; ABI of MPI 5.0, libmpi 1$'

libraries=$dir/openmpi
hearth run -n 1 ./program
check 'the same program with Open MPI: its launcher' 0 '^by openmpi$'
check 'and its library' 0 '^major 6, preloaded$'
hearth run mpirun.mpich -n 1 ./program
check 'not by the launcher of MPICH' 2 "$dir/openmpi/libmpi_abi.so.1 of openmpi, but mpirun.mpich is the launcher of mpich"
hearth run -n 1 ./fortran
check 'Fortran needs the library for its MPI' 2 'error: there is no libhearth-mpi.so for openmpi beside this command: build Hearth'
hearth run -n 1 ./mixed
check 'C of the ABI and Fortran' 2 'error: ./mixed needs libmpi_abi.so.1 and libmpi.so.40, two interfaces of MPI that cannot be mixed: build all'
hearth run -n 1 ./mixed_too
check 'in any order' 2 'error: ./mixed_too needs libmpi.so.40 and libmpi_abi.so.1, two interfaces'
hearth run --mpi abi -n 1 ./mixed
check 'both, if the user insists' 0 '^by openmpi$'
hearth info
check 'hearth info names the other' 0 '^ +Open MPI; ABI of MPI 5.0, libmpi 1$'

libraries=
if ! ldconfig -p | grep libmpi_abi >/dev/null; then
    hearth run --dry-run mpirun.mpich -n 1 ./program
    check 'a library that only the nodes have' 0 '^mpirun.mpich -n 1 /usr/bin/env LD_PRELOAD=.*/abi/libhearth-mpi.so'
    hearth run -n 1 ./program
    check 'nothing tells the launcher then' 2 'error: libmpi_abi.so.1 is not found here, so that its launcher is unknown: write'
fi
libraries=$dir/mpich
rm "$dir/home/lib/hearth/abi/libhearth-mpi.so"
hearth run ./program
check 'Hearth is not built for it' 2 'error: there is no libhearth-mpi.so for abi beside this command: build Hearth'
hearth info
check 'hearth info says so' 0 '^abi +not built; it needs an MPI with the standard ABI'
exit $failed
