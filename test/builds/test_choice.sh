#!/usr/bin/env bash
# Tests which MPI packaging/mpis.sh and make take: the PATH decides, or MPICC; the launcher and the other wrappers belong to the compiler
# that was taken; a tree of another compiler is made anew.
# test_choice.sh MPI TREE      once: yes; timeout: 60; coverage: no
set -uo pipefail
mpi=$1 failed=0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
real=$("$root/packaging/mpis.sh" choose "$mpi") || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MPICC MAKEFLAGS MAKELEVEL

# A copy of the sources, with no tree yet; wrappers in three folders: of a module, of Debian's kind, and without other languages.
mkdir -p "$dir"/{src,module,debian,plain,links}
cp -r "$root"/{Makefile,packaging} "$dir/src"
mpis=$dir/src/packaging/mpis.sh
wrapper() { # file
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$real" >"$1"
    chmod +x "$1"
}
wrapper "$dir/module/mpicc"
wrapper "$dir/plain/mpicc"
wrapper "$dir/debian/mpicc.$mpi"
ln -s "mpicc.$mpi" "$dir/debian/mpicc"
ln -s ../module/mpicc "$dir/links/mpicc"
for name in module/{mpirun,mpif90,mpicxx} debian/{mpirun,mpifort,mpicxx}{,".$mpi"}; do
    printf '#!/bin/sh\n' >"$dir/$name"
    chmod +x "$dir/$name"
done

is() { # name, what is right, command
    local out
    out=$("${@:3}" 2>&1)
    if [ "$out" = "$2" ]; then
        echo "ok $1"
    else
        echo "FAIL $1: '$out' instead of '$2'"
        failed=1
    fi
}
first() { # folder on the PATH, command
    PATH=$dir/$1:$PATH "${@:2}"
}
named() { # compiler, command
    MPICC=$1 "${@:2}"
}
refuses() { # command
    "$@" 2>/dev/null || echo refused
}

is 'the first mpicc of the PATH' "$dir/module/mpicc" first module "$mpis" choose "$mpi"
is "Debian's mpicc, by its own name" "$dir/debian/mpicc.$mpi" first debian "$mpis" choose "$mpi"
is 'also where another comes later' "$dir/module/mpicc" first debian first module "$mpis" choose "$mpi"
is 'the flavours are the same' "$("$mpis")" first module "$mpis"
is 'the one that MPICC names' "$dir/plain/mpicc" named "$dir/plain/mpicc" first module "$mpis" choose "$mpi"
is 'a name of the PATH' "$dir/module/mpicc" named mpicc first module "$mpis" choose "$mpi"
is 'no other flavour then' "$mpi" named "$dir/plain/mpicc" "$mpis"
is 'no standard ABI then' refused refuses named "$dir/plain/mpicc" "$mpis" choose abi
is 'MPICC that is none' 'MPICC=/bin/true is not a compiler of MPICH or Open MPI: name their mpicc, or unset it' named /bin/true "$mpis"

is 'the launcher beside it' "$dir/module/mpirun" first module "$mpis" "$mpi" mpirun
is "Debian's launcher, by its own name" "$dir/debian/mpirun.$mpi" first debian "$mpis" "$mpi" mpirun
is 'the launcher beside the target of a link' "$dir/module/mpirun" first links "$mpis" "$mpi" mpirun
is 'Fortran beside it' "$dir/module/mpif90" first module "$mpis" "$mpi" mpifort
is "Debian's Fortran, by its own name" "$dir/debian/mpifort.$mpi" first debian "$mpis" "$mpi" mpifort
is 'no Fortran of another MPI' refused refuses first plain "$mpis" "$mpi" mpifort
is 'a launcher where there is no compiler' "$dir/debian/mpirun.$mpi" named /bin/true first debian "$mpis" "$mpi" mpirun
is 'C++ beside it' "$dir/module/mpicxx" first module "$mpis" "$mpi" mpicxx

# ---- trees ----

tree=$dir/src/build/$mpi
mkdir -p "$tree"
printf 'HEARTH_MPI:STRING=%s\nHEARTH_MPICC:FILEPATH=%s\n' "$mpi" "$dir/plain/mpicc" >"$tree/CMakeCache.txt"
touch "$tree/.configured"
remakes() { make -C "$dir/src" -n INSTALLED= "build/$mpi/.configured" 2>&1 | grep -c "cmake -S .* -B build/$mpi .*-DHEARTH_MPICC="; }

is 'tests use the compiler of the tree' "$dir/plain/mpicc" first module "$mpis" "$mpi"
is 'unless MPICC names one' "$dir/module/mpicc" named "$dir/module/mpicc" "$mpis" "$mpi"
is 'a new tree would not' "$dir/module/mpicc" first module "$mpis" choose "$mpi"
is 'a tree of another compiler is made anew' 1 first module remakes
is 'also where MPICC names it' 1 named "$dir/module/mpicc" remakes
is 'a tree of the same compiler is kept' 0 first plain remakes
version=$("$real" -E -dM -include mpi.h -x c /dev/null | awk '$2 == "MPICH_VERSION" { gsub(/"/, ""); print "MPICH " $3 }
    $2 ~ /^OMPI_M.*_VERSION$/ { n[$2] = $3 } END { if (length(n)) print "Open MPI " n["OMPI_MAJOR_VERSION"] "." n["OMPI_MINOR_VERSION"] }')
is 'a tree names its MPI' "build/$mpi: $version" sh -c '"$1" tree "$2" | sed -E "s/(Open MPI [0-9]+\.[0-9]+)[^,]*/\1/; s/, .*//"' sh "$mpis" "$mpi"
exit $failed
