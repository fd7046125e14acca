#!/bin/sh
# mpicc-abi.sh ARGUMENT...: compiles or links a program for the standard ABI of MPI 5.0, with the header and the library of an MPI
# that is installed here. The program then runs under every MPI that has the ABI.
#
#   mpicc-abi.sh --folders     prints the folders of mpi.h and of libmpi_abi.so; fails if there is none
#
# MPICH installs a compiler of its own for it, mpicc_abi. Debian has only the files.
set -u

folders() { # of mpi.h and libmpi_abi.so
    for top in "${HEARTH_ABI:-}" /usr/local /usr "/usr/lib/$(cc -print-multiarch 2>/dev/null)" /usr/lib64; do
        for pair in mpi_abi_mpich/include:mpi_abi_mpich/lib openmpi/include/standard_abi:openmpi/lib include/standard_abi:lib include:lib; do
            include=$top/${pair%:*} lib=$top/${pair#*:}
            [ -n "$top" ] && [ -e "$lib/libmpi_abi.so" ] || continue
            grep -qs 'define *MPI_ABI_VERSION' "$include/mpi.h" && ! grep -qE 'define *(OPEN_MPI|MPICH_VERSION)' "$include/mpi.h" || continue
            echo "$include $lib"
            return
        done
    done
    return 1
}

found=$(folders) || {
    echo "mpicc-abi: no MPI with the standard ABI here: MPICH 5 and Open MPI 6 have it; HEARTH_ABI names its folder" >&2
    exit 1
}
if [ "${1:-}" = --folders ]; then
    echo "$found"
    exit
fi
exec "${CC:-cc}" "-I${found% *}" "$@" "-L${found#* }" -lmpi_abi
