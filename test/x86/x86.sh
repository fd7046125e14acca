#!/usr/bin/env bash
# Builds Hearth for x86-64 and runs it under emulation:   x86.sh [build|units|machine|all]     (make test-x86)
#
#   build   both MPIs, by a cross compiler, with warnings as errors, against Debian's packages for x86-64 in build/x86/root
#   units   the unit tests under qemu-user: on a processor with SSE2 only and on one with AVX2
#   machine what needs a kernel, and jobs of two ranks of every family: two virtual machines with Debian's kernel, one for each MPI,
#           side by side, each on one core
#
# Emulation proves no memory ordering: qemu runs each thread on this machine's processor, whose order is weaker than that
# of x86 or the same. It shows instructions, layouts and system calls.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
. test/foreign/units.sh
here=$PWD/test/x86 out=$PWD/build/x86
root=$out/root
compiler=x86_64-linux-gnu-gcc
processors=(Nehalem Haswell) # the first has SSE2 but no AVX2
declare -A without=([Nehalem]='' [Haswell]=,-pcid,-x2apic,-tsc-deadline,-invpcid,-hle,-rtm) # else qemu warns, where tests count lines
jobs=${JOBS:-$(nproc)}

for tool in $compiler qemu-x86_64; do
    command -v $tool >/dev/null || { echo "$tool is not installed: packaging/setup.sh x86" >&2 && exit 77; }
done

# ---- build ----

headers_of() { # MPI
    case $1 in mpich) echo "$root/usr/include/x86_64-linux-gnu/mpich" ;; openmpi) echo "$root/usr/lib/x86_64-linux-gnu/openmpi/include" ;; esac
}
library_of() { # MPI
    case $1 in mpich) echo "$root/usr/lib/x86_64-linux-gnu/libmpich.so" ;; openmpi) echo "$root/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so" ;; esac
}

configure() { # MPI
    local wrapper=$out/mpicc.$1 name
    name=$(basename "$(library_of "$1")" .so)
    printf '#!/bin/sh\nexec %s --sysroot=%s -I%s "$@"\n' $compiler "$root" "$(headers_of "$1")" >"$wrapper"
    chmod +x "$wrapper"
    cmake -S . -B "$out/$1" -G "Unix Makefiles" -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -DHEARTH_X86_ROOT="$root" \
        -DHEARTH_WERROR=ON -DHEARTH_MPI="$1" -DHEARTH_MPICC="$wrapper" -DHEARTH_MPIFORT=HEARTH_MPIFORT-NOTFOUND -DHEARTH_MPICXX=HEARTH_MPICXX-NOTFOUND \
        -DMPI_SKIP_COMPILER_WRAPPER=ON -DMPI_C_LIB_NAMES="${name#lib}" -DMPI_"${name#lib}"_LIBRARY="$(library_of "$1")" \
        -DMPI_C_HEADER_DIR="$(headers_of "$1")" >"$out/configure.$1.log" 2>&1
}

build() {
    "$here/root.sh" "$root" || return 1
    for mpi in mpich openmpi; do
        [ -f "$out/$mpi/Makefile" ] || configure $mpi || { tail -5 "$out/configure.$mpi.log" && return 1; }
        cmake --build "$out/$mpi" -j "$jobs" --target all tests $([ $mpi != mpich ] || echo units) >"$out/build.$mpi.log" 2>&1 ||
            { grep -E -A3 'error|Error' "$out/build.$mpi.log" | head -20 && return 1; }
        echo "ok build.$mpi"
    done
}

# ---- units ----

units() {
    local processor
    export QEMU_LD_PREFIX=$root
    for processor in "${processors[@]}"; do
        run_units "$out/mpich/test" "$out/logs" "$processor" qemu-x86_64 -cpu "$processor${without[$processor]}"
    done
    say_units
}

machine() {
    command -v qemu-system-x86_64 >/dev/null || { echo "qemu-system-x86_64 is not installed: packaging/setup.sh x86" >&2 && return 77; }
    local mpi machines=() failed=0
    for mpi in mpich openmpi; do
        "$here/machine.sh" "$root" "$out/machine.$mpi" $mpi &
        machines+=($!)
    done
    for mpi in "${machines[@]}"; do wait "$mpi" || failed=1; done
    return $failed
}

all() { # units that fail do not keep the machines from running
    local failed=0
    build || return 1
    units || failed=1
    machine || failed=1
    if [ -n "${RECORD:-}" ] && [ -z "${UNITS:-}${REGEXP:-}" ]; then
        test/status/record.py x86 --seconds $SECONDS --log <(printf '%s' "$unit_lines"; say_units) "$out"/machine.*/kernel.log
    fi
    return $failed
}

mkdir -p "$out"
case ${1:-all} in
build) build ;;
units) units ;;
machine) machine ;;
all) all ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$here/x86.sh" >&2 && exit 2 ;;
esac
