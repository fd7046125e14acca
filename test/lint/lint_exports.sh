#!/bin/sh
# Checks that the libraries export their public names and no others, and that the library that interposes MPI is linked with
# MPI: a program that loads MPI late with local symbols, as Python does, hides MPI's names from other libraries.
set -u
cd "$(dirname "$0")/../.." || exit 1
public='^(P?MPIX?_[A-Z][A-Za-z0-9_]*|CLAMPI_[A-Z][A-Za-z0-9_]*|clampi_[a-z_]+|hearth_[a-z_]+|match_[a-z_]+|P?ARMCIX?_[A-Za-z_]+|p?armci_[a-z_]+|v?gasnet[ct]?_[A-Za-z0-9_]+|gex_[A-Za-z0-9_]+|p?mpir?_win_get_attr_(f08_)?|mpi_init_|mpi_init_thread_|mpi_finalize_)$'
looked=0 bad=0
for library in build/mpich/lib/*.so build/openmpi/lib/*.so; do
    [ -e "$library" ] || continue
    looked=$((looked + 1))
    names=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $NF); print $NF }')
    wrong=$(echo "$names" | grep -vE "$public")
    if [ -z "$names" ] || [ -n "$wrong" ]; then
        echo "$library: exports ${wrong:-nothing}" | paste -sd ' ' -
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
