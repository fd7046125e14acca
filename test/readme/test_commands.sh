#!/usr/bin/env bash
# Runs the commands of README, CONTRIBUTING and doc as typed, in a copy of the sources with an installed Hearth, by a user that is not
# root, on two cores. commands.py says which commands are not run as they stand.   test_commands.sh MPI TREE
# once: yes; timeout: 300; coverage: no
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tier=${HEARTH_TEST_TIER:-quick} failed=0
[ "$tier" = quick ] && limit=100 || limit=300 # seconds for a page, on busy cores
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$root" || exit 1

python3 -B "$here/commands.py" check || failed=1

# ---- a user who has installed Hearth, and the sources ----

home=$dir/home copy=$dir/hearth
mkdir -p "$home" "$copy"
test/lint/sources.sh | tar -cf - -T - | tar -xf - -C "$copy" || exit 1
installed=
for mpi in openmpi mpich; do # the commands name both
    [ -e "build/$mpi/lib/libvgasnet.a" ] || continue
    cmake --install "build/$mpi" --prefix "$home/hearth" >"$dir/install.log" 2>&1 || { tail -5 "$dir/install.log" && exit 1; }
    installed="$installed $mpi"
    mkdir -p "$copy/build/$mpi/test" && cp -r "build/$mpi/lib" "$copy/build/$mpi/"
    for program in litmus_cache mpi_sync mpi_suite; do
        [ ! -e "build/$mpi/test/$program" ] || cp -a "build/$mpi/test/$program" "$copy/build/$mpi/test/"
    done
done
[ -n "$installed" ] || { echo "no tree is built" && exit 77; }

plain=$(mpirun --version 2>/dev/null | grep -q 'Open MPI' && echo openmpi || echo mpich) # the MPI of plain mpirun
case $installed in *$plain*) "$(packaging/mpis.sh "$plain")" examples/get.c -o "$copy/program" || exit 1 ;; esac
case $installed in *mpich*) "$(packaging/mpis.sh mpich)" examples/get.c -o "$copy/program.mpich" || exit 1 ;; esac
printf '#!/bin/sh\nmpirun -n 2 ./program\n' >"$copy/job.sh" && chmod +x "$copy/job.sh"

for each in quick full; do test/run -l $each >"$home/names.$each" || exit 1; done

as_user=()
if [ "$(id -u)" = 0 ]; then
    as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    chown -R 65534:65534 "$dir" && chmod 755 "$dir"
    "${as_user[@]}" true 2>/dev/null || { echo "skip another user: this system has none that is not root" && as_user=(env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1); }
fi

# ---- one page after the other ----

# The functions of every script. lacks: what a command needs and this machine has not.
cat >"$dir/functions.sh" <<'F'
lacks() {
    local word
    for word in nwchem.mpich mpicc.openmpi mpirun.openmpi mpicc.mpich mpirun.mpich jq; do
        case " $1 " in *[\ /]$word\ *) command -v $word >/dev/null || { echo "$word"; return; } ;; esac
    done
    case $1 in
    *openmpi*) case $INSTALLED in *openmpi*) ;; *) echo 'a tree for Open MPI' ;; esac ;;
    *mpich*) case $INSTALLED in *mpich*) ;; *) echo 'a tree for MPICH' ;; esac ;;
    *./program*) [ -x ./program ] || echo "a tree for $PLAIN" ;;
    esac
    case $1 in
    *libga* | *-lga-mpich*) [ -e /usr/include/ga.h ] || [ -n "$(find /usr/include /usr/lib -name ga.h 2>/dev/null | sed q)" ] || echo 'Global Arrays' ;;
    *build/openmpi/test/litmus_cache* | *build/openmpi/test/mpi_sync*) [ -x build/openmpi/test/litmus_cache ] || echo 'the tests' ;;
    *'$HOME/names.'*) grep -q '^mpi_sync' "$HOME/names.quick" || echo 'the tests' ;;
    esac
}

one() { # place, command, what is run
    local lack status=0 began=$EPOCHREALTIME
    lack=$(lacks "$3")
    if [ -n "$lack" ]; then
        echo "skip $1: needs $lack: ${2%%$'\n'*}"
        return
    fi
    eval "$3" >"$LOG" 2>&1 </dev/null || status=$?
    if [ $status = 0 ]; then
        printf 'ok   %s (%d ms): %s\n' "$1" $(((${EPOCHREALTIME/./} - ${began/./}) / 1000)) "${2%%$'\n'*}"
    else
        echo "FAIL $1: exit status $status: $2"
        tail -n 15 "$LOG" | sed 's/^/    | /'
        any=1
    fi
}
F

run_page() { # page
    local name=${1//\//_}
    {
        cat "$dir/functions.sh"
        echo "LOG=$dir/home/$name.log any=0"
        python3 -B "$here/commands.py" script "$1" "$tier"
        echo 'exit $any'
    } >"$dir/home/$name.sh"
    (
        cd "$copy" && unset "${!HEARTH_@}" "${!OMPI_@}" "${!PRTE_@}" # a user does not have the settings of this shell
        [ "$1" = README.md ] || PATH=$home/hearth/bin:$PATH
        export HOME=$home INSTALLED=$installed PLAIN=$plain PATH PKG_CONFIG_PATH=$home/hearth/lib/pkgconfig
        "${as_user[@]}" timeout -k 5 "$limit" taskset -c "$cores" bash "$home/$name.sh"
    )
}

cores=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done | head -n 2 | paste -sd, -)

# Reports for the commands that compare runs.
(
    cd "$copy" && export HOME=$home PATH=$home/hearth/bin:$PATH && unset "${!HEARTH_@}"
    [ ! -x program ] || "${as_user[@]}" hearth run --report run.json mpirun -n 2 ./program >/dev/null 2>&1 </dev/null || exit 1
    for name in before1 before2 after1 after2 a b c a1 a2 a3 b1 b2 b3; do cp run.json $name.json; done
    chmod a+rw ./*.json
) || { echo "FAIL hearth run --report run.json mpirun -n 2 ./program" && failed=1; }

for page in $(python3 -B "$here/commands.py" pages); do
    run_page "$page" || failed=1
done
exit $failed
