#!/usr/bin/env bash
# Installs a tree into a clean prefix, and builds and runs every example with only the installed files: by pkg-config
# and by CMake. Checks that no installed file names the build tree, that a staged copy (DESTDIR) is the same, the
# module file, and that each public function and setting has a manual page. test_install.sh MPI TREE; quick: openmpi;
# timeout: 300
set -uo pipefail
mpi=$1 tree=$2 failed=0
[ "$(basename "$tree")" != coverage ] || { echo "a user's link does not know the counters of the coverage tree" && exit 77; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
root=$(cd "$here/.." && pwd)
[ -e "$tree/lib/libvgasnet.a" ] || { echo "$tree is not built" && exit 77; }
cc=$("$root/packaging/mpis.sh" "$mpi") || { echo "no $mpi here" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
prefix=$dir/prefix
examples=$prefix/share/doc/hearth/examples
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
unset DESTDIR LD_LIBRARY_PATH

check() { # name, command that must succeed
    if "${@:2}" >"$dir/log" 2>&1; then
        echo "ok   $1"
    else
        echo "FAIL $1: ${*:2}" | cut -c 1-300
        sed 's/^/    | /' "$dir/log" | tail -n 20
        failed=1
    fi
}

# ---- the files ----

stage() { DESTDIR=$dir/stage cmake --install "$tree" --prefix /opt/hearth; }

files() { (cd "$1" && find . \( -type f -o -type l \) | sort); }

same_files() { diff <(files "$prefix") <(files "$dir/stage/opt/hearth"); }

names_no_tree() { # neither in text nor as a library search path
    local file bad=0
    ! grep -rIlF -e "$tree" -e "$root/src" -e "$root/build" -e "$dir/stage" "$prefix" "$dir/stage" || bad=1
    ! grep -rIlF "$prefix" "$dir/stage" || bad=1
    while read -r file; do
        ! readelf -d "$file" 2>/dev/null | grep -E 'R(UN)?PATH' | grep -F -e "$tree" -e "$root" -e "$dir" || { echo "$file" && bad=1; }
    done < <(find "$prefix" -name '*.so*' -o -path '*/bin/*' -o -name hearth-probe)
    return $bad
}

have_numbers() { # programs refer to a library by a name whose number changes with the interface
    local library name bad=0
    for library in "$prefix"/lib/hearth/lib{hearth-core,hearth-match}.so "$prefix/lib/hearth/$mpi"/lib{hearth-mpi,armci,vgasnet}.so; do
        name=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
        [ "$name" = "$(basename "$library").1" ] && [ -e "$(dirname "$library")/$name" ] || { echo "$library: ${name:-no name}" && bad=1; }
    done
    return $bad
}

headers_are_found() { # under hearth/, and by the names of the papers' interfaces
    local package header compiler=$cc
    while read -r package header; do
        # shellcheck disable=SC2046 # several options
        printf '#define GASNET_PAR\n#include <%s>\n' "$header" | "$compiler" -x c -fsyntax-only $(pkg-config --cflags "$package") - || return 1
    done <<LIST
hearth-$mpi hearth/clampi.h
hearth-$mpi clampi.h
hearth-$mpi hearth/hearth.h
hearth-match hearth/match.h
hearth-armci-$mpi armci.h
hearth-armci-$mpi hearth/armci/armci.h
hearth-vgasnet-$mpi gasnet.h
hearth-vgasnet-$mpi gasnetex.h
hearth-vgasnet-$mpi vgasnet.h
hearth-vgasnet-$mpi hearth/vgasnet.h
LIST
}

staged_prefix() { grep -qx 'prefix=/opt/hearth' "$dir/stage/opt/hearth/lib/pkgconfig/hearth-$mpi.pc"; }

relative() { # a prefix without a leading slash is relative to the current folder, and shown in full
    (cd "$dir" && cmake --install "$tree" --prefix relative) && grep -x "prefix=$dir/relative" "$dir/relative/lib/pkgconfig/hearth-$mpi.pc"
}

check install cmake --install "$tree" --prefix "$prefix"
check 'a relative prefix' relative
check stage stage
check 'a staged copy holds the same' same_files
check 'a staged copy names its prefix' staged_prefix
check 'nothing names the tree' names_no_tree
check 'names of libraries have numbers' have_numbers
check 'headers are found' headers_are_found

# ---- both MPIs in one prefix ----

case $mpi in openmpi) other=mpich ;; *) other=openmpi ;; esac
beside=${tree%"$mpi"}$other

both_are_there() {
    local each
    "$prefix/bin/hearth" info -v >"$dir/info" || return 1
    for each in "$mpi" "$other"; do
        grep -F "$prefix/lib/hearth/$each/libhearth-mpi.so" "$dir/info" && pkg-config --exists "hearth-$each" || return 1
    done
}

check "the functions for gdb are there" test -s "$prefix/share/hearth/hearth-gdb.py"
if [ -e "$beside/lib/libvgasnet.a" ]; then
    check "install $other beside it" cmake --install "$beside" --prefix "$prefix"
    check 'both MPIs are there' both_are_there
fi

# ---- the examples, by pkg-config ----

launch() { # expected output, options and program
    "$here/launch.sh" "$mpi" 2 --timeout 60 "${@:2}" 2>&1 | tee "$dir/out" && grep -qE "$1" "$dir/out"
}

flags() { pkg-config --cflags --libs "$1"; }

compile() { # compiler, source, program, more
    # shellcheck disable=SC2086 # several options
    "$1" -O1 -Wall -Wextra -Werror "$examples/$2" -o "$dir/$3" ${4:-}
}

mkdir "$dir/nvm"
preload=$(pkg-config --variable=preload "hearth-$mpi")
cached=(--env HEARTH_MODE=always --env HEARTH_BYPASS=never --env HEARTH_REPORT="$dir/run.json" --preload "$preload")
was_cached() { "$prefix/bin/hearth" report "$dir/run.json" | tr '\n' ' ' | grep 'caches served [1-9]' >/dev/null; } # the lines are wrapped
check 'compile get.c' compile "$cc" get.c get
check 'run get.c' launch 'sum 208000, expected 208000' "${cached[@]}" "$dir/get"
check 'get.c was cached' was_cached
check 'compile invalidate.c' compile "$cc" invalidate.c invalidate "$(flags "hearth-$mpi")"
check 'run invalidate.c' launch ' 0 wrong; of 3000 gets [1-9]' --env HEARTH_BYPASS=never "$dir/invalidate"
check 'compile match.c' compile "${CC:-cc}" match.c match "$(flags hearth-match)"
check 'run match.c' "$dir/match"
check 'compile armci.c' compile "$cc" armci.c armci "$(flags "hearth-armci-$mpi")"
check 'run armci.c' launch '2 ranks, vector 2, counter 2' "$dir/armci"
check 'compile gasnet.c' compile "$cc" gasnet.c gasnet "$(flags "hearth-vgasnet-$mpi")"
check 'run gasnet.c' launch '2 nodes, written by 1' --env HEARTH_NVM_DIR="$dir/nvm" "$dir/gasnet"
if [ -e /usr/include/ga.h ] && [ -e "$("$cc" -print-file-name="libga-$mpi.a")" ]; then
    check 'compile ga.c' compile "$cc" ga.c ga "-lga-$mpi -lscalapack-$mpi -llapack -lblas -lgfortran $(flags "hearth-armci-$mpi") -lm"
    check 'run ga.c' launch '2 ranks, last element 2046' "$dir/ga"
    check 'ga.c is on this libarmci' eval "ldd '$dir/ga' | grep -F '$prefix/lib/hearth/$mpi/libarmci.so'"
fi
if fortran=$("$root/packaging/mpis.sh" "$mpi" mpifort); then
    check 'compile get.f90' compile "$fortran" get.f90 get_f "-J$dir"
    check 'run get.f90' launch '1000 gets, 0 wrong' "${cached[@]}" "$dir/get_f"
    check 'get.f90 was cached' was_cached
fi
if [ "$mpi" = openmpi ] && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
    check 'run get.py' launch '1000 gets, 0 wrong' "${cached[@]}" /usr/bin/python3 "$examples/get.py"
    check 'get.py was cached' was_cached
fi

# ---- by CMake, shared and static ----

cmake_project() { # source, build folder
    cmake -S "$1" -B "$2" -DHEARTH_MPI="$mpi" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$2"
}

mkdir "$dir/static"
cp "$examples"/*.c "$dir/static"
cat >"$dir/static/CMakeLists.txt" <<'LISTS'
cmake_minimum_required(VERSION 3.18)
project(static LANGUAGES C)
find_package(Hearth 0.1 REQUIRED) # no component: names with suffixes, or those of the only MPI
find_package(Hearth QUIET COMPONENTS nosuch)
if(Hearth_FOUND OR NOT Hearth_NOT_FOUND_MESSAGE MATCHES "not for nosuch")
  message(FATAL_ERROR "found for an MPI that there is not: ${Hearth_NOT_FOUND_MESSAGE}")
endif()
find_package(Hearth 99 QUIET)
if(Hearth_FOUND)
  message(FATAL_ERROR "version 99 was found")
endif()
find_package(Hearth 0.1 REQUIRED COMPONENTS ${HEARTH_MPI})
add_executable(invalidate invalidate.c)
target_link_libraries(invalidate MPI::MPI_C Hearth::hearth-mpi-${HEARTH_MPI}) # in this order, it must be in front all the same
foreach(name match armci vgasnet)
  string(REPLACE vgasnet gasnet source ${name})
  add_executable(${source} ${source}.c)
  target_link_libraries(${source} Hearth::${name}_static)
endforeach()
LISTS
check 'examples by CMake' cmake_project "$examples" "$dir/cmake"
check 'run invalidate.c by CMake' launch ' 0 wrong; of 3000 gets [1-9]' --env HEARTH_BYPASS=never "$dir/cmake/invalidate"
check 'run gasnet.c by CMake' launch '2 nodes, written by 1' --env HEARTH_NVM_DIR="$dir/nvm" "$dir/cmake/gasnet"
check 'static libraries by CMake' cmake_project "$dir/static" "$dir/static/build"
check 'MPI named before it' launch ' 0 wrong; of 3000 gets [1-9]' --env HEARTH_BYPASS=never "$dir/static/build/invalidate"
check 'run match.c, static' "$dir/static/build/match"
check 'run armci.c, static' launch '2 ranks, vector 2, counter 2' "$dir/static/build/armci"
check 'run gasnet.c, static' launch '2 nodes, written by 1' --env HEARTH_NVM_DIR="$dir/nvm" "$dir/static/build/gasnet"
check 'static ones need no Hearth' eval "! readelf -d '$dir/static/build/'{match,armci,gasnet} | grep -E 'NEEDED.*lib(hearth-match|armci|vgasnet)'"

# ---- the command, and the module file ----

finds_library() { "$prefix/bin/hearth" run --dry-run -n 2 "$dir/get" | grep -F "LD_PRELOAD=$preload"; }

check 'hearth run finds its library' finds_library
check 'hearth info knows this MPI' eval "'$prefix/bin/hearth' info -v | grep -F '$prefix/lib/hearth/$mpi/libhearth-mpi.so'"

version=$(pkg-config --modversion "hearth-$mpi")
module_paths() { # all paths that the module file adds exist
    local paths path
    paths=$(tclsh <<TCL
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {variable path} { puts "\$variable \$path" }
source $prefix/share/modulefiles/hearth/$version
TCL
    ) && grep -q "^PATH $prefix/bin$" <<<"$paths" || return 1
    while read -r _ path; do [ -d "$path" ] || return 1; done <<<"$paths"
}
if command -v tclsh >/dev/null; then
    check 'module file' module_paths
else
    check 'module file' grep -qxF "set prefix \"$prefix\"" "$prefix/share/modulefiles/hearth/$version"
fi

# ---- manual pages ----

man=$prefix/share/man
each_function() { # that a library exports, except those that only its own headers or our libraries call
    local name bad=0
    for name in $(nm -D --defined-only "$prefix"/lib/hearth/*.so "$prefix/lib/hearth/$mpi"/*.so | awk 'NF == 3 && $2 ~ /[TWi]/ { sub(/@.*/, "", $3); print $3 }' |
        grep -vE '^hearth_(core_|link_ucx$)' | grep -E '^(CLAMPI_|hearth_|match_|P?ARMCIX?_|p?armci_|gasnett?_|vgasnet_)' | sort -u); do
        [ -e "$man/man3/$name.3" ] || { echo "no page: $name" && bad=1; }
    done
    [ "$(find "$man/man3" -name '*.3' | wc -l)" -gt 500 ] || { echo "there are few pages" && bad=1; }
    return $bad
}

each_setting() {
    local name bad=0
    for name in hearth-settings $("$prefix/bin/hearth" info -c | sed '/^# Experiments/q' | grep -oE '^HEARTH_[A-Z0-9_]+'); do
        [ -e "$man/man7/$name.7" ] || { echo "no page: $name" && bad=1; }
    done
    [ -e "$man/man7/HEARTH_CACHE_SIZE.7" ] || bad=1
    return $bad
}

links_lead_somewhere() {
    local page target bad=0
    while IFS=: read -r page target; do
        [ -e "$man/${target#.so }" ] || { echo "$page: $target" && bad=1; }
    done < <(grep -r '^\.so ' "$man")
    return $bad
}

well_formed() { # groff prints no warning about any page, except about lines that it cannot fill
    local said
    # shellcheck disable=SC2046 # one word per page
    said=$(groff -man -Tutf8 -ww -Wbreak -z $(grep -rL '^\.so ' "$man") 2>&1 || echo "groff fails")
    echo "$said" && [ -z "$said" ]
}

shows_prototype() { MANWIDTH=200 man -M "$man" ARMCI_NbPutS | grep -F 'int ARMCI_NbPutS(void *src_ptr'; }

check 'a page for each function' each_function
check 'a page for each setting' each_setting
check 'links lead to pages' links_lead_somewhere
! command -v groff >/dev/null || check 'pages are well formed' well_formed
! command -v man >/dev/null || check 'man finds a function' shows_prototype

exit $failed
