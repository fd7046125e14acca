#!/bin/sh
# mpis.sh: finds the MPIs, and the programs of each.
#
#   mpis.sh                    prints the flavours that are installed, mpich and openmpi; if there is none, says what to install and fails
#   mpis.sh choose FLAVOUR     prints the compiler for a new tree; if there is none, says so and fails
#   mpis.sh FLAVOUR            prints the compiler of the tree build/FLAVOUR; if there is no such tree, that for a new one; fails without
#   mpis.sh FLAVOUR PROGRAM    prints the mpirun, mpifort or mpicxx that belongs to that compiler; fails if it has none
#   mpis.sh tree NAME          prints one line: the MPI of the tree build/NAME, its version and its compiler, or that it knows none
#
# The PATH decides: in each of its folders, mpicc counts first, then mpicc.FLAVOUR, as Debian names them. The variable MPICC names the only
# compiler that counts instead. The macros of a compiler's mpi.h identify the flavour. FLAVOUR abi: the standard ABI of MPI 5.0.
set -u
packaging=$(cd "$(dirname "$0")" && pwd)
build=$packaging/../build

macros_of() { # compiler
    echo '#include <mpi.h>' | "$1" -E -dM -x c - 2>/dev/null
}

flavour_of() { # compiler
    case "$(macros_of "$1")" in
    *"#define OPEN_MPI "* | *"#define OMPI_MAJOR_VERSION "*) echo openmpi ;;
    *"#define MPICH_VERSION "*) echo mpich ;;
    esac
}

version_of() { # compiler
    macros_of "$1" | awk '
        $2 == "MPICH_VERSION" { gsub(/"/, ""); print "MPICH " $3 }
        $2 ~ /^OMPI_(MAJOR|MINOR|RELEASE)_VERSION$/ { number[$2] = $3 }
        $2 == "MPI_ABI_VERSION" { abi = $3 }
        END {
            if ("OMPI_MAJOR_VERSION" in number)
                print "Open MPI " number["OMPI_MAJOR_VERSION"] "." number["OMPI_MINOR_VERSION"] "." number["OMPI_RELEASE_VERSION"]
            else if (abi)
                print "standard ABI of MPI, version " abi
        }' | sed 1q
}

# ---- the compiler ----

is_of() { # compiler, flavour
    [ -f "$1" ] && [ -x "$1" ] && [ "$(flavour_of "$1")" = "$2" ]
}

named_compiler() { # flavour: the one of MPICC
    path=$(command -v "$MPICC") && is_of "$path" "$1" || return 1
    case $path in /*) echo "$path" ;; *) echo "$PWD/$path" ;; esac
}

# Where Debian's mpicc is a link to one of the flavours, that one's own name is taken, which other links do not change.
path_compiler() { # flavour
    IFS=:
    for folder in $PATH "/usr/lib64/$1/bin"; do
        [ "$folder/mpicc" -ef "$folder/mpicc.$1" ] || ! is_of "$folder/mpicc" "$1" || { echo "$folder/mpicc" && return; }
        ! is_of "$folder/mpicc.$1" "$1" || { echo "$folder/mpicc.$1" && return; }
    done
    return 1
}

abi_compiler() {
    [ -z "${MPICC:-}" ] && "$packaging/mpicc-abi.sh" --folders >/dev/null 2>&1 && echo "$packaging/mpicc-abi.sh"
}

chosen_compiler() { # flavour
    if [ "$1" = abi ]; then
        abi_compiler
    elif [ -n "${MPICC:-}" ]; then
        named_compiler "$1"
    else
        (path_compiler "$1")
    fi
}

choose() { # flavour
    chosen_compiler "$1" && return
    echo "mpis.sh: no compiler of $1${MPICC:+: MPICC=$MPICC is not one}" >&2
    return 1
}

tree_compiler() { # tree
    sed -n 's/^HEARTH_MPICC:[A-Z]*=//p' "$build/$1/CMakeCache.txt" 2>/dev/null
}

compiler_of() { # flavour
    compiler=$(tree_compiler "$1")
    if [ -z "${MPICC:-}" ] && [ -x "$compiler" ]; then echo "$compiler"; else chosen_compiler "$1"; fi
}

# ---- the programs beside it ----

names_of() { # flavour, program, compiler: best first. Beside Debian's mpicc.mpich, plain names may belong to Open MPI
    case $2 in
    mpirun) names="mpirun.$1 mpiexec.$1" plain="mpirun mpiexec" ;;
    mpifort) names="mpifort.$1 mpif90.$1" plain="mpifort mpif90" ;;
    mpicxx) names="mpicxx.$1" plain="mpicxx mpic++" ;;
    *) return 1 ;;
    esac
    [ "$1.$2" != mpich.mpirun ] || names="$names mpiexec.hydra"
    case $3 in *."$1") echo "$names" ;; *) echo "$names $plain" ;; esac
}

# A compiler that is a link belongs to the programs beside its target.
beside() { # compiler, name...
    compiler=$1
    shift
    for folder in "$(dirname "$(readlink -f "$compiler")")" "$(dirname "$compiler")"; do
        for name; do
            [ ! -x "$folder/$name" ] || { echo "$folder/$name" && return; }
        done
    done
    return 1
}

# Machines on which programs only run have a launcher, but no compiler.
program_of() { # flavour, program
    compiler=$(compiler_of "$1") || compiler=
    names=$(names_of "$1" "$2" "${compiler:-mpicc.$1}") || return 1
    # shellcheck disable=SC2086 # several names
    [ -n "$compiler" ] && beside "$compiler" $names && return
    [ "$2" = mpirun ] || return 1
    for name in $names; do
        command -v "$name" && return
    done
    return 1
}

# ---- the command line ----

flavours() {
    for flavour in mpich openmpi; do
        ! chosen_compiler $flavour >/dev/null || echo $flavour
    done
}

describe() { # tree
    ! grep -qs '^HEARTH_MPI:[A-Z]*=none$' "$build/$1/CMakeCache.txt" || { echo "build/$1: what knows no MPI" && return; }
    compiler=$(tree_compiler "$1")
    echo "build/$1: $(version_of "$compiler"), $compiler"
}

list() {
    found=$(flavours)
    [ -n "$found" ] && echo "$found" && return
    if [ -n "${MPICC:-}" ]; then
        echo "MPICC=$MPICC is not a compiler of MPICH or Open MPI: name their mpicc, or unset it" >&2
    else
        echo "no MPI found: install mpich and libmpich-dev, or openmpi-bin and libopenmpi-dev, or put mpicc on the PATH" >&2
    fi
    return 1
}

case ${1:-} in
'') list ;;
choose) choose "$2" ;;
tree) describe "$2" ;;
*) if [ $# = 1 ]; then compiler_of "$1"; else program_of "$1" "$2"; fi ;;
esac
