#!/bin/sh
# mpis.sh: detects the installed MPIs.
#
#   mpis.sh            prints their flavours, mpich and openmpi; if there is none, says what to install and fails
#   mpis.sh FLAVOUR    prints the compiler of this flavour; fails if it is not installed. abi: that of the standard ABI of MPI 5.0
#
# Debian names the compilers by flavour. Elsewhere the macros of plain mpicc's mpi.h identify the flavour.
set -u

flavour_of() { # of a compiler
    macros=$(echo '#include <mpi.h>' | "$1" -E -dM -x c - 2>/dev/null) || return 0
    case "$macros" in
    *"#define OPEN_MPI "* | *"#define OMPI_MAJOR_VERSION "*) echo openmpi ;;
    *"#define MPICH_VERSION "*) echo mpich ;;
    esac
}

compiler_of() { # of a flavour
    if [ "$1" = abi ]; then
        script=$(cd "$(dirname "$0")" && pwd)/mpicc-abi.sh
        "$script" --folders >/dev/null 2>&1 && echo "$script"
        return
    fi
    for name in "mpicc.$1" mpicc "/usr/lib64/$1/bin/mpicc"; do
        path=$(command -v "$name") || continue
        if [ "$(flavour_of "$path")" = "$1" ]; then
            echo "$path"
            return 0
        fi
    done
    return 1
}

if [ $# -gt 0 ]; then
    compiler_of "$1"
    exit
fi

found=0
for flavour in mpich openmpi; do
    if compiler_of $flavour >/dev/null; then
        echo $flavour
        found=1
    fi
done
if [ $found = 0 ]; then
    echo "no MPI found: install mpich and libmpich-dev, or openmpi-bin and libopenmpi-dev, or put mpicc on the PATH" >&2
    exit 1
fi
