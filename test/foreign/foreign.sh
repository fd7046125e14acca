#!/usr/bin/env bash
# Builds what needs no MPI for other systems, with warnings as errors, and runs the unit tests:   foreign.sh [SYSTEM...]
# (make test-foreign). All systems by default:
#
#   ppc64le   POWER, pages of 64 KB, under qemu-user        arm64   aarch64 with pages of 64 KB, under qemu-user
#   riscv64   RISC-V, under qemu-user                       musl    this machine with the C library musl, natively
#
# UNITS=REGEXP selects tests. Emulation proves no memory ordering; it shows instructions, layouts, page sizes and system calls.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
. test/foreign/units.sh
out=$PWD/build/foreign
jobs=${JOBS:-$(nproc)}
export PKG_CONFIG_LIBDIR=$out/pkgconfig # also when a build configures again

compiler_of() { # system
    case $1 in
    ppc64le) echo powerpc64le-linux-gnu-gcc ;;
    riscv64) echo riscv64-linux-gnu-gcc ;;
    arm64) echo aarch64-linux-gnu-gcc ;;
    musl) echo musl-gcc ;;
    *) return 1 ;;
    esac
}

processor_of() { # system
    case $1 in arm64) echo aarch64 ;; musl) uname -m ;; *) echo "$1" ;; esac
}

# Of the libraries that Hearth uses, only xxHash is a header alone and needs no library of the other system.
headers() {
    mkdir -p "$out/include" "$out/pkgconfig"
    cp /usr/include/xxhash.h "$out/include" || return 1
    printf 'Name: xxHash\nDescription: a header\nVersion: 0.8.1\nCflags: -I%s\n' "$out/include" >"$out/pkgconfig/libxxhash.pc"
}

# The kernel's headers, which musl-gcc does not search.
kernel_headers() {
    mkdir -p "$out/kernel"
    ln -sfn /usr/include/linux /usr/include/asm-generic "$out/kernel/"
    ln -sfn "/usr/include/$(gcc -print-multiarch)/asm" "$out/kernel/asm"
}

# The atomics of glibc's libgcc for aarch64 ask glibc which instructions there are.
configure() { # system
    local flags=""
    [ "$1" != musl ] || { kernel_headers && flags="-idirafter $out/kernel"; }
    [ "$1.$(uname -m)" != musl.aarch64 ] || flags="$flags -mno-outline-atomics"
    cmake -S . -B "$out/$1" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$(processor_of "$1")" \
        -DCMAKE_C_COMPILER="$(compiler_of "$1")" -DCMAKE_C_FLAGS="$flags" -DHEARTH_MPI=none -DHEARTH_WERROR=ON >"$out/configure.$1.log" 2>&1
}

build() { # system
    headers || return 1
    [ -f "$out/$1/CMakeCache.txt" ] || configure "$1" || { tail -5 "$out/configure.$1.log" && return 1; }
    cmake --build "$out/$1" -j "$jobs" --target all units >"$out/build.$1.log" 2>&1 ||
        { grep -E -A3 'error|Error|undefined' "$out/build.$1.log" | head -20 && return 1; }
    echo "ok build.$1"
}

units() { # system
    local emulator=()
    case $1 in
    ppc64le) emulator=(qemu-ppc64le -p 65536 -L /usr/powerpc64le-linux-gnu) ;;
    riscv64) emulator=(qemu-riscv64 -L /usr/riscv64-linux-gnu) ;;
    arm64) emulator=(qemu-aarch64 -p 65536 -L "$([ "$(uname -m)" = aarch64 ] && echo / || echo /usr/aarch64-linux-gnu)") ;;
    esac
    run_units "$out/$1/test" "$out/logs" "$1" "${emulator[@]}"
}

broken=0
for system in "${@:-ppc64le riscv64 arm64 musl}"; do
    for name in $system; do
        compiler=$(compiler_of "$name") || { sed -n '2,7s/^# \{0,1\}//p' test/foreign/foreign.sh >&2 && exit 2; }
        command -v "$compiler" >/dev/null || { echo "skip $name: $compiler is not installed: packaging/setup.sh foreign" && continue; }
        build "$name" && units "$name" || broken=1
    done
done
say_units || broken=1
if [ -n "${RECORD:-}" ] && [ $# = 0 ] && [ -z "${UNITS:-}" ]; then
    test/status/record.py foreign --seconds $SECONDS --log <(printf '%s' "$unit_lines"; say_units) --mpi none
fi
[ $broken = 0 ]
