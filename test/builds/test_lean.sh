#!/usr/bin/env bash
# Builds the libraries and the command without any optional library, and tests the defaults of this build and what it says when something
# is asked for that was left out; in the quick tier only libvgasnet, which contains most of what these libraries are for. Then checks that
# what uses MPI's datatypes compiles for an MPI without Fortran. builds.sh tests the rest.
# test_lean.sh MPI TREE      once: yes; timeout: 120; coverage: no
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
mpi=$1 tree=$2 lean=$PWD/build/lean failed=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

check() { # name, regular expression of a line, or - if there must be none of an error or a warning; command
    local name=$1 line=$2
    shift 2
    "$@" >"$dir/out" 2>&1 </dev/null
    if { [ "$line" = - ] && ! grep -qE '^hearth.*(error|warning):' "$dir/out"; } || { [ "$line" != - ] && grep -qE "$line" "$dir/out"; }; then
        echo "ok $name"
    else
        echo "FAIL $name: no line like: $line"
        sed 's/^/    | /' "$dir/out" | tail -20
        failed=1
    fi
}

# ---- without optional libraries ----

quick=''
[ "${HEARTH_TEST_TIER:-}" != quick ] || quick=yes
# The quick tier compiles only what these libraries make a difference to, and takes the other objects from the trees that are built.
build() {
    local without=()
    if [ -z "$quick" ]; then
        env -u MAKEFLAGS -u MAKELEVEL make tree-lean JOBS=1 TARGETS="vgasnet hearth hearth-mpi"
        return
    fi
    lean=$dir/lean
    for name in UCX XXHASH URING NCURSES HWLOC; do without+=(-D"HEARTH_WITH_$name=OFF"); done
    cmake -S . -B "$lean" -DHEARTH_MPI="$mpi" -DHEARTH_MPICC="$(packaging/mpis.sh "$mpi")" -DHEARTH_PROGRAMS=OFF "${without[@]}" \
        -DCMAKE_C_COMPILER_LAUNCHER="$PWD/test/builds/same.sh" &&
        python3 -B test/builds/same.py "$lean" "$tree" $([ ! -d build/common ] || echo build/common) >"$dir/same" &&
        HEARTH_SAME=$dir/same cmake --build "$lean" -j 1 --target vgasnet
}
build >"$dir/build.log" 2>&1 || {
    tail -20 "$dir/build.log"
    exit 1
}
launch() { # options, program
    test/launch.sh "$mpi" 2 --timeout 60 --env HEARTH_NODE_RANKS=1 "$@"
}
hearth=$lean/bin/hearth
cc=$(packaging/mpis.sh "$mpi") || exit 77
"$cc" -O1 examples/get.c -o "$dir/get" || exit 1
"$cc" -O1 -Iinclude -Iinclude/hearth/gasnet examples/gasnet.c -o "$dir/gasnet" -L"$lean/lib" -lvgasnet -Wl,-rpath,"$lean/lib" || exit 1

check 'GASNet with its defaults' '2 nodes, written by 1' launch "$dir/gasnet"
check 'UCX is asked for' 'error: network ucx: built without UCX' launch --env HEARTH_NET=ucx "$dir/gasnet"
check 'NVM is asked for' 'error: segments: HEARTH_NVM=on, but this build cannot' launch --env HEARTH_NVM=on "$dir/gasnet"
if [ -z "$quick" ]; then
    serve=(--env HEARTH_WINDOWS=serve --preload "$lean/lib/libhearth-mpi.so" "$dir/get")
    check 'a window between nodes' 'sum 208000, expected 208000' launch "${serve[@]}"
    check 'the network is taken without a line' - launch --env HEARTH_WINDOWS=host "${serve[@]:2}"
    check 'what cannot be served is said' 'warning: windows across nodes are left to MPI: over MPI messages a helper needs MPI_THREAD_MULTIPLE' \
        launch "${serve[@]}"
    check 'the default network' '^HEARTH_NET=mpi$' "$hearth" info -c
    check 'the default place of segments' '^HEARTH_NVM=off$' "$hearth" info -c
    check 'a file of a segment' 'this build cannot read segments: install xxHash' "$hearth" info --nvm "$dir/get"
    check 'the screen' 'built without ncurses .*: use hearth top --once' "$hearth" top
    check 'what the build has' '^build .*with no optional library' "$hearth" info
fi

# ---- an option that cannot be fulfilled ----

check 'a library that must be there, and is not' 'HEARTH_WITH_UCX=ON, but pkg-config finds no' \
    env PKG_CONFIG_LIBDIR="$dir" cmake -S . -B "$dir/on" -DHEARTH_MPI=none -DHEARTH_WITH_UCX=ON

# ---- what builds.sh builds ----

cmake --build "$tree" --target help | sed 's/^\.\.\. //; s/[: ].*//' | sort -u >"$dir/targets"
for target in $(sed -n 's/^targets="\(.*\)"$/\1/p' test/builds/builds.sh); do
    check "builds.sh: target $target" "^$target\$" cat "$dir/targets"
done

# ---- a tree that is configured again ----

links() { # prints how its programs are linked
    cmake -S . -B "$dir/again" -G "Unix Makefiles" -DHEARTH_MPI=none >"$dir/out" 2>&1 && find "$dir/again" -name link.txt | sort | xargs cat
}
links >"$dir/first"
links >"$dir/second"
check 'links as at first' '^the same$' sh -c 'test -s "$1" && cmp "$1" "$2" && echo the same' sh "$dir/first" "$dir/second"

# ---- without Fortran ----

for flavour in $(packaging/mpis.sh); do
    compiler=$(test/builds/no_fortran.sh "$(packaging/mpis.sh "$flavour")" "$dir/$flavour") || { failed=1 && continue; }
    for source in src/mpi/windows/serving/serve_element.c test/mpi/serve/element_types.c test/mpi/test.c; do
        check "$flavour without Fortran: $source" '^compiles$' \
            sh -c '"$1" -D_GNU_SOURCE -Wall -Werror -fsyntax-only -Iinclude -Isrc -Itest -Itest/mpi "$2" && echo compiles' sh "$compiler" "$source"
    done
    check "$flavour without Fortran: no compiler for it" '^none$' sh -c 'MPICC=$1 packaging/mpis.sh "$2" mpifort || echo none' sh "$compiler" "$flavour"
done
exit $failed
