#!/usr/bin/env bash
# Builds Hearth for x86-64 and runs what emulation of a process can show:   x86.sh [build|units|all]     (make test-x86)
#
#   build   both MPIs, by a cross compiler, with warnings as errors, against Debian's packages for x86-64 in build/x86/root
#   units   the unit tests under qemu-user: on a processor with SSE2 only and on one with AVX2
#
# Emulation proves no memory ordering: qemu runs each thread on this machine's processor, whose order is weaker than that
# of x86 or the same. It shows instructions, layouts and system calls.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
here=$PWD/test/x86 out=$PWD/build/x86
root=$out/root
compiler=x86_64-linux-gnu-gcc
processors=(Nehalem Haswell) # the first has SSE2 but no AVX2
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
        -DHEARTH_WERROR=ON -DHEARTH_MPI="$1" -DHEARTH_MPICC="$wrapper" -DHEARTH_MPIFORT=HEARTH_MPIFORT-NOTFOUND \
        -DMPI_SKIP_COMPILER_WRAPPER=ON -DMPI_C_LIB_NAMES="${name#lib}" -DMPI_"${name#lib}"_LIBRARY="$(library_of "$1")" \
        -DMPI_C_HEADER_DIR="$(headers_of "$1")" >"$out/configure.$1.log" 2>&1
}

build() {
    "$here/root.sh" "$root" || return 1
    for mpi in mpich openmpi; do
        [ -f "$out/$mpi/Makefile" ] || configure $mpi || { tail -5 "$out/configure.$mpi.log" && return 1; }
        cmake --build "$out/$mpi" -j "$jobs" --target all $([ $mpi != mpich ] || echo units) >"$out/build.$mpi.log" 2>&1 ||
            { grep -E -A3 'error|Error' "$out/build.$mpi.log" | head -20 && return 1; }
        echo "ok build.$mpi"
    done
}

# ---- units ----

# Programs that need what qemu-user does not emulate: faults that are resolved by the program, userfaultfd, io_uring, process_vm_readv,
# limits of the address space, a process that executes itself.
not_emulated() { # name
    case $1 in
    unit_pages_local | unit_pages_faults | unit_pages_store_faults | unit_net | unit_net_heap | unit_heater) return 0 ;;
    *) return 1 ;;
    esac
}

run_unit() { # program, processor
    local name arguments=()
    name=$(basename "$1")
    case $name in *_random) arguments=(--seconds 2) ;; *_crash) arguments=(--kills 5) ;; *_replay) arguments=(--operations 50) ;; esac
    QEMU_LD_PREFIX=$root timeout -k 5 300 qemu-x86_64 -cpu "$2" "$1" "${arguments[@]}" >"$out/logs/$name.$2.log" 2>&1
}

units() {
    local program processor name status passed=0 failed=0 skipped=0
    mkdir -p "$out/logs"
    for program in "$out"/mpich/test/unit_*; do
        name=$(basename "$program")
        not_emulated "$name" && skipped=$((skipped + 1)) && echo "skip $name: needs a real kernel of x86-64" && continue
        for processor in "${processors[@]}"; do
            status=0
            run_unit "$program" "$processor" || status=$?
            case $status in
            0) passed=$((passed + 1)) ;;
            77) skipped=$((skipped + 1)) ;;
            *)
                failed=$((failed + 1))
                echo "FAIL $name on $processor: exit status $status; $out/logs/$name.$processor.log"
                ;;
            esac
        done
    done
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ]
}

mkdir -p "$out"
case ${1:-all} in
build) build ;;
units) units ;;
all) build && units ;;
*) sed -n '2,5s/^# \{0,1\}//p' "$here/x86.sh" >&2 && exit 2 ;;
esac
