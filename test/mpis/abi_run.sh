#!/usr/bin/env bash
# Builds one program for the standard ABI of MPI 5.0, and starts it by `hearth run` under each MPI that has a libmpi_abi here, without and
# with its launcher; that of the other MPI is refused. A Fortran program uses its MPI's own interface: it runs with the tree for that MPI, if
# there is one beside TREE; otherwise, and together with C of the ABI, it is refused.      abi_run.sh TREE      inside a root (enter.sh)
set -uo pipefail
tree=$(cd "$1" && pwd) failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe XDG_CACHE_HOME=$dir
mpis=$here/../packaging/mpis.sh
"$("$mpis" abi)" -O1 "$here/tools/gets.c" -o "$dir/gets" || exit 1

expect() { # what, whether, lines to show
    [ "$2" = 0 ] && echo "ok $1" && return
    echo "FAIL $1"
    sed 's/^/    | /' <<<"$3"
    failed=1
}

run() { # MPI, arguments of hearth run
    local mpi=$1
    shift
    out=$(cd "$dir" && LD_LIBRARY_PATH=$dir/$mpi timeout -k 5 120 "$tree/bin/hearth" run -v --report report.json "$@" 2>&1)
}

try() { # MPI, the other, how MPI_Get_library_version begins
    local mpi=$1 other=$2 version=$3 how out status
    for how in '' "$("$mpis" "$mpi" mpirun)"; do
        rm -f "$dir/report.json"
        # shellcheck disable=SC2086 # no word or one
        run "$mpi" $how -n 2 ./gets
        status=$?
        expect "$mpi${how:+ by $how}: it runs" $status "$out"
        grep -q "uses abi: .*/$mpi/libmpi_abi.so.1" <<<"$out" && grep -q "LD_PRELOAD=$tree/lib/libhearth-mpi.so" <<<"$out"
        expect "$mpi${how:+ by $how}: with the library of the ABI" $? "$out"
        grep -q "\"$version" "$dir/report.json" && grep -qE '"hits": *[1-9]' "$dir/report.json"
        expect "$mpi${how:+ by $how}: its gets hit" $? "$(head -c 2000 "$dir/report.json")"
    done
    run "$mpi" "$("$mpis" "$other" mpirun)" -n 2 ./gets
    [ $? = 2 ] && grep -q "is the launcher of $other" <<<"$out"
    expect "$mpi: the launcher of $other is refused" $? "$out"
}

fortran() { # MPI
    local mpi=$1 compiler
    compiler=$("$mpis" "$mpi" mpifort) || { echo "no Fortran of $mpi here" && return; }
    (cd "$dir" && "$compiler" "$here/mpis/gets.f90" -o "fortran.$mpi") || exit 1
    mkdir -p "$dir/only" && cp -a "$tree/bin" "$tree/lib" "$dir/only/"
    out=$(cd "$dir" && timeout -k 5 120 "$dir/only/bin/hearth" run -n 2 "./fortran.$mpi" 2>&1)
    [ $? = 2 ] && [ "$out" = "hearth: error: there is no libhearth-mpi.so for $mpi beside this command: build Hearth for it (make), or install it" ]
    expect "Fortran of $mpi, Hearth for the ABI alone: one line" $? "$out"
    [ -e "$tree/../$mpi/lib/libhearth-mpi.so" ] || { echo "no tree for $mpi beside this one" && return; }
    rm -f "$dir/report.json"
    out=$(cd "$dir" && HEARTH_BYPASS=never timeout -k 5 120 "$tree/bin/hearth" run --mode always --report report.json -n 2 "./fortran.$mpi" 2>&1) &&
        grep -q 'gets in Fortran: right' <<<"$out" && grep -qE '"hits": *[1-9]' "$dir/report.json"
    expect "Fortran of $mpi, Hearth for $mpi: its gets hit" $? "$out"
}

for mpi in mpich openmpi; do
    fortran $mpi
    file=$(compgen -G "/usr/lib/*/libmpi_abi_$mpi.so.*" | sed q)
    [ -n "$file" ] || { echo "no libmpi_abi of $mpi here" && continue; }
    mkdir "$dir/$mpi" && ln -s "$file" "$dir/$mpi/libmpi_abi.so.1"
    case $mpi in
    mpich) try mpich openmpi MPICH ;;
    openmpi) try openmpi mpich 'Open MPI' ;;
    esac
done
exit $failed
