#!/bin/sh
# Checks that the libraries export their public names and no others, that of MPI they need only calls of the standard, and that
# the library that interposes MPI is linked with MPI: a program that loads MPI late with local symbols, as Python does, hides MPI's
# names from other libraries.
#
# MPIs derived from MPICH have its public names, and internal ones of their own: a library that needs one of MPICH's internal names
# does not load under the others. The library for the standard ABI needs libmpi_abi alone, and its names alone.
set -u
cd "$(dirname "$0")/../.." || exit 1
public='^(P?MPIX?_[A-Z][A-Za-z0-9_]*|CLAMPI_[A-Z][A-Za-z0-9_]*|clampi_[a-z_]+|hearth_[a-z_]+|match_[a-z_]+|P?ARMCIX?_[A-Za-z_]+|p?armci_[a-z_]+|v?gasnet[ct]?_[A-Za-z0-9_]+|gex_[A-Za-z0-9_]+|p?mpir?_win_get_attr_(f08_)?|mpi_init_|mpi_init_thread_|mpi_finalize_)$'
# Calls, and the constants of MPICH's mpi.h that are variables.
standard=$(sed -n 's/^\([A-Z][A-Za-z0-9_]*\).*/MPI_\1/p' src/mpi/standard.txt)
constants='MPI_UNWEIGHTED MPI_WEIGHTS_EMPTY MPI_F_STATUS_IGNORE MPI_F_STATUSES_IGNORE MPI_F08_STATUS_IGNORE MPI_F08_STATUSES_IGNORE'
# Names that other libraries than MPI define.
others='(@|^(_ITM_.*|__gmon_start__|__cxa_finalize|hearth_.*|hwloc_.*|uc[pst]_.*|io_uring_.*|XXH.*|__(a|t|ub)san_.*)$)'
looked=0 bad=0

private_names() { # library: what it needs beyond the standard
    nm -D --undefined-only "$1" | awk '{ print $NF }' | grep -vE "$others" | sed 's/^PMPI_/MPI_/' | sort -u |
        grep -vxF "$standard
$(echo "$constants" | tr ' ' '\n')"
}

needed_mpis() { # library: files of MPIs that it needs, without that of the standard ABI
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(lib.*mpi.*\)\]/\1/p' | grep -v '^libmpi_abi\.so'
}

for library in build/common/lib/*.so build/mpich/lib/*.so build/openmpi/lib/*.so build/abi/lib/*.so; do
    [ -e "$library" ] || continue
    looked=$((looked + 1))
    names=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }')
    wrong=$(echo "$names" | grep -vE "$public")
    if [ -z "$names" ] || [ -n "$wrong" ]; then
        echo "$library: exports ${wrong:-nothing}" | paste -sd ' ' -
        bad=1
    fi
    case $library in # they are for all MPIs
    */libhearth-core.so | */libhearth-ucx.so | */libhearth-match.so)
        calls=$(nm -D --undefined-only "$library" | awk '$NF ~ /^P?MPIX?_/ { print $NF }')
        [ -z "$calls" ] || { echo "$library: needs MPI:" $calls && bad=1; }
        ;;
    esac
    case $library in
    build/mpich/*) private=$(private_names "$library") ;;
    build/abi/*) private=$(constants= && private_names "$library"; needed_mpis "$library") ;;
    *) private= ;;
    esac
    if [ -n "$private" ]; then
        echo "$library: needs $private" | paste -sd ' ' -
        bad=1
    fi
    case $library in */libhearth-mpi.so) ;; *) continue ;; esac
    if ! readelf -d "$library" | grep -q 'NEEDED.*\[libmpi'; then
        echo "$library: is not linked to MPI"
        bad=1
    fi
done
if [ $looked = 0 ]; then
    echo "no library is built"
    exit 77
fi
exit $bad
