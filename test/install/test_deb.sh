#!/usr/bin/env bash
# Builds the Debian packages from a copy of the sources, and checks their contents; lintian must find no error. The
# packages hold the libraries for both MPIs, so one run is enough. test_deb.sh MPI TREE; tier: full; timeout: 1500
set -uo pipefail
mpi=$1 failed=0
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "$mpi" = openmpi ] || { echo "the packages are built with the tests of Open MPI" && exit 77; }
for tool in dpkg-buildpackage dh mpicc.openmpi mpicc.mpich; do
    command -v $tool >/dev/null || { echo "$tool is not installed" && exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
    echo "FAIL $*"
    failed=1
}

holds() { # package, path that must be in it
    local package=$1 file
    shift
    dpkg -c "$dir/$package"_*.deb | awk '{ print $6 }' >"$dir/$package.list"
    for file; do grep -qE "^\./$file$" "$dir/$package.list" || fail "$package does not hold $file"; done
    dpkg -x "$dir/$package"_*.deb "$dir/unpacked"
}

"$root/packaging/deb.sh" "$dir" || exit 1
holds hearth usr/bin/hearth usr/lib/hearth/libhearth-core.so.1 usr/lib/hearth/libhearth-ucx.so usr/lib/hearth/libhearth-match.so.1 usr/share/man/man1/hearth.1.gz usr/share/man/man7/HEARTH_MODE.7.gz \
    'usr/share/modulefiles/hearth/[0-9.]+'
for each in openmpi mpich; do
    holds hearth-$each "usr/lib/hearth/$each/libhearth-mpi.so -> .*" usr/lib/hearth/$each/lib{hearth-mpi,armci,vgasnet}.so.1 \
        usr/lib/hearth/$each/hearth-probe
    dpkg -f "$dir"/hearth-${each}_*.deb Depends | grep "lib$each" >/dev/null || fail "hearth-$each does not depend on its MPI"
done
holds libhearth-dev usr/include/hearth/clampi.h usr/lib/hearth/openmpi/libarmci.a 'usr/lib/[^/]*/pkgconfig/hearth-mpich.pc' \
    usr/lib/cmake/Hearth/HearthConfig.cmake usr/share/man/man3/ARMCI_NbPutS.3.gz usr/share/doc/libhearth-dev/examples/get.c

cat "$dir"/unpacked/usr/lib/*/pkgconfig/hearth-openmpi.pc | grep -x 'prefix=/usr' || fail 'hearth-openmpi.pc does not name /usr'
"$dir/unpacked/usr/bin/hearth" --version || fail 'the packaged command does not start'
for each in openmpi mpich; do
    "$dir/unpacked/usr/bin/hearth" info -v | grep -F "unpacked/usr/lib/hearth/$each/libhearth-mpi.so" || fail "the packaged command does not find $each"
done
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$dir"/*.changes || fail 'lintian'
fi
[ $failed = 0 ] && echo 'all packages are well'
exit $failed
