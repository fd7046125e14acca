#!/bin/sh
# Compiles each header of ARMCI by itself, in C and in C++, and together with those of Global Arrays where they are
# installed. test_headers.sh MPI TREE; quick: openmpi; coverage: no
set -u
cd "$(dirname "$0")/../.." || exit 1
cc=$(packaging/mpis.sh "$1") || exit 1
cxx=$(packaging/mpis.sh "$1" mpicxx) || cxx=''
bad=0

# The quick tier leaves out the C++ classes of MPI, which take most of the time.
[ "${HEARTH_TEST_TIER:-}" != quick ] || cxx=${cxx:+$cxx -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX}
check() { # headers to include
    for compiler in "$cc -x c -std=c11 -Wstrict-prototypes" ${cxx:+"$cxx -x c++ -std=c++11 -Wno-cast-function-type"}; do
        # shellcheck disable=SC2086 # a command and its options; Open MPI's own C++ has such casts
        printf '#include <%s>\n' "$@" | $compiler -Wall -Wextra -Werror -Iinclude/hearth/armci -fsyntax-only - || {
            echo "not by ${compiler%% -x*}: $*"
            bad=1
        }
    done
}

check armci.h
check message.h
check armcix.h
check mp3.h
check message.h mp3.h armcix.h armci.h
if echo '#include <ga.h>' | $cc -fsyntax-only -x c - 2>/dev/null; then
    check ga.h macdecls.h armci.h ga-mpi.h
    check armcix.h ga-mpi.h ga.h message.h
fi
[ $bad = 0 ] && echo "all headers compile by $cc ${cxx:-, and no C++ compiler is here}"
exit $bad
