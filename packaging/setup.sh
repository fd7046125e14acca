#!/bin/sh
# setup.sh [build|test|full|loaded|x86|foreign|mpis|builds|bench|deb|coverage|fuzz]: installs the packages that are missing for this purpose.
#
# On Debian and Ubuntu it installs the missing packages; it downloads nothing if all are installed. On other systems, or
# without permission to install, it lists the names, and succeeds if the programs that a build needs are installed. Tests
# that need a missing package are then skipped.
set -eu
cd "$(dirname "$0")"

build="cmake make gcc libc6-dev pkg-config mpich libmpich-dev openmpi-bin libopenmpi-dev libhwloc-dev libucx-dev liburing-dev libxxhash-dev libncurses-dev systemtap-sdt-dev"
apps="libglobalarrays-dev libscalapack-mpich-dev libscalapack-openmpi-dev liblapack-dev libblas-dev libopenblas-dev" # dft, dgemm
test="gdb ccache ninja-build gfortran g++ python3 python3-mpi4py python3-numpy iproute2 util-linux tmux clang clang-format spin $apps man-db groff-base tcl"
full="slurmctld slurmd slurm-client munge nwchem-mpich hpcc valgrind libarmci-mpi-dev libcoarrays-mpich-dev libcoarrays-openmpi-dev chromium dpkg-dev debhelper lintian libsimgrid-dev"
bench="$apps g++ python3-matplotlib iproute2 libarmci-mpi-dev libsimgrid-dev"
deb="dpkg-dev debhelper"
coverage="gcovr"
fuzz="clang libclang-rt-14-dev"
loaded="stress-ng"
mpis="mmdebstrap"
builds="ccache ninja-build bsdextrautils" # column
x86="gcc-x86-64-linux-gnu g++-x86-64-linux-gnu libc6-dev-amd64-cross qemu-user qemu-system-x86 e2fsprogs kmod cpio"
foreign="gcc-powerpc64le-linux-gnu gcc-riscv64-linux-gnu musl-tools qemu-user"
[ "$(uname -m)" = aarch64 ] || foreign="$foreign gcc-aarch64-linux-gnu libc6-dev-arm64-cross"

case "${1:-build}" in
build) wanted=$build ;;
test) wanted="$build $test" ;;
full) wanted="$build $test $full" ;;
bench) wanted="$build $bench" ;;
deb) wanted="$build $deb" ;;
coverage) wanted="$build $test $coverage" ;;
fuzz) wanted="$build $fuzz" ;;
loaded) wanted="$build $test $loaded" ;;
x86) wanted="$build $x86" ;;
foreign) wanted="$build $foreign" ;;
mpis) wanted="$mpis" ;;
builds) wanted="$build $builds" ;;
*)
    echo "usage: $0 [build|test|full|loaded|x86|foreign|mpis|builds|bench|deb|coverage|fuzz]" >&2
    exit 2
    ;;
esac

missing_packages() {
    for package in $wanted; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=absent
        [ "$status" = installed ] || echo "$package"
    done
}

can_build() {
    command -v cmake >/dev/null && command -v make >/dev/null && ./mpis.sh >/dev/null
}

go_on_without() { # packages, why
    echo "setup: not installed ($2): $1"
    if can_build; then
        echo "setup: the programs that a build needs are installed; continuing"
        exit 0
    fi
    echo "setup: a build needs cmake, make, a C compiler and an MPI: install the packages above" >&2
    exit 1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    go_on_without "$wanted" "no apt here; names as in Debian"
fi
missing=$(missing_packages | paste -sd " " -)
if [ -z "$missing" ]; then
    echo "setup: all packages are installed"
    exit 0
fi

if [ "$(id -u)" = 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    go_on_without "$missing" "not root, and no sudo"
fi
echo "setup: installing $missing"
apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
$apt update || echo "setup: the package lists could not be refreshed; trying with the old ones" >&2
install() { # packages
    # shellcheck disable=SC2086 # $1 is a list
    $apt install -y --no-install-recommends $1 >/dev/null
}
if ! install "$missing"; then # a package that this release lacks must not block the others
    for package in $missing; do
        install "$package" || true
    done
    missing=$(missing_packages | paste -sd " " -)
    [ -z "$missing" ] || go_on_without "$missing" "apt-get failed, see above"
fi
echo "setup: done"
