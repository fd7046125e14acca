#!/bin/sh
# Each public header by itself, with others in any order, twice, inside extern "C" and outside, as C and C++ old and new, in each of the
# three modes of threads; and a program that includes gasnet.h without a mode is told so.
# test_headers.sh MPI TREE
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
warn='-Wall -Wextra -pedantic -Werror -Iinclude -Iinclude/gasnet -fsyntax-only'

try() { # compiler and options; the source comes on stdin
    # shellcheck disable=SC2086 # several options
    "$@" $warn - 2>&1
}

includes() { printf '#include <%s>\n' "$@"; }

check() { # headers, separated by blanks
    for mode in GASNET_SEQ GASNET_PARSYNC GASNET_PAR; do
        for standard in c99 c11; do
            # shellcheck disable=SC2086 # several headers
            { echo "#define $mode" && includes $1 $1; } | try gcc -x c -std=$standard || { echo "not in $standard, $mode: $1" && bad=1; }
        done
        command -v g++ >/dev/null || continue
        for standard in c++98 c++17; do
            # shellcheck disable=SC2086
            { echo "#define $mode" && includes $1 $1; } | try g++ -x c++ -std=$standard || { echo "not in $standard, $mode: $1" && bad=1; }
            # shellcheck disable=SC2086
            { echo "#define $mode" && echo 'extern "C" {' && includes $1 && echo '}' && includes $1; } | try g++ -x c++ -std=$standard ||
                { echo "not inside extern \"C\" in $standard, $mode: $1" && bad=1; }
        done
    done
}

check gasnet.h
check vgasnet.h
check gasnet_tools.h
check gasnet_vis.h
check 'gasnet.h gasnet_tools.h gasnet_coll.h gasnet_handler.h gasnet_vis.h'
check 'gasnet_tools.h gasnet.h gasnet_handler.h gasnet_coll.h vgasnet.h'
check 'vgasnet.h gasnet_coll.h gasnet_handler.h gasnet_tools.h gasnet.h'

{ echo '#define GASNET_SEQ' && echo '#define GASNET_PAR' && includes gasnet.h; } | try gcc -x c >/dev/null && echo 'two modes are taken' && bad=1
includes gasnet.h | try gcc -x c | grep -q 'define one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR' || { echo 'no mode is taken' && bad=1; }
[ $bad = 0 ] && echo 'all headers compile'
exit $bad
