#!/bin/sh
# Makes a compiler for an MPI without Fortran, from one with it:   no_fortran.sh COMPILER FOLDER
#
# FOLDER/bin/mpicc finds a copy of mpi.h first, in which Fortran's types are as in an MPI that was configured without Fortran: Open MPI's
# (--disable-mpi-fortran) does not define those of a given size, MPICH's (--disable-fortran) has no type for any of them. The library is
# the same. There is no mpifort beside it. Prints the path of the compiler.
set -eu
compiler=$1 folder=$2

header=$(echo '#include <mpi.h>' | "$compiler" -E -x c - | sed -n 's/^# 1 "\(.*\/mpi\.h\)".*/\1/p' | sed 1q)
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/include"
cp "${header%/*}"/mpi*.h "$folder/include"
sed -E 's/^(#define OMPI_HAVE_FORTRAN_[A-Z0-9]+) 1$/\1 0/
    s/^(#define MPI_(2?(INTEGER|REAL|COMPLEX|LOGICAL)[0-9]*|2?DOUBLE_(PRECISION|COMPLEX)|CHARACTER)) .*MPI_Datatype\)0x.*/\1 ((MPI_Datatype)MPI_DATATYPE_NULL)/' \
    "$header" >"$folder/include/mpi.h"
printf '#!/bin/sh\nexec "%s" "-I%s" "$@"\n' "$compiler" "$folder/include" >"$folder/bin/mpicc"
chmod +x "$folder/bin/mpicc"

if ! "$folder/bin/mpicc" -fsyntax-only -x c - <<'END'
#include <mpi.h>
#ifdef MPI_INTEGER1 /* MPICH */
_Static_assert(MPI_INTEGER1 == MPI_DATATYPE_NULL && MPI_COMPLEX == MPI_DATATYPE_NULL, "Fortran's types are left");
#endif
END
then
    echo "no_fortran.sh: $header has Fortran's types in another form" >&2
    exit 1
fi
echo "$folder/bin/mpicc"
