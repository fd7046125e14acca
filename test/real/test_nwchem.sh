#!/usr/bin/env bash
# Runs Debian's NWChem, an unmodified program: the energies with Hearth equal those without, over shared memory and
# TCP, with MPI's messages and with Hearth's.   test_nwchem.sh MPI TREE      tier: full; alone: yes; timeout: 900
set -uo pipefail
mpi=$1 tree=$2 failed=0
. "$(dirname "${BASH_SOURCE[0]}")/nwchem.sh"

write_input "$dir/input.nw" molecule 'scf
 direct
end
task scf energy
dft
 xc b3lyp
end
task dft energy' <<'N'
 O  0.0  0.0000  0.1173
 H  0.0  0.7572 -0.4692
 H  0.0 -0.7572 -0.4692
N

# Without ARMCI_RMA_ATOMICITY=0 ARMCI-MPI gets by MPI_Get_accumulate.
energies() { # options of launch.sh: prints the energies to 9 digits: the next ones depend on the order of tasks
    (cd "$dir" && "$here/launch.sh" mpich 2 --timeout 250 --env ARMCI_USE_WIN_ALLOCATE=0 --env ARMCI_RMA_ATOMICITY=0 \
        "$@" nwchem.mpich input.nw >out.txt 2>&1) || { tail -n 20 "$dir/out.txt" >&2 && return 1; }
    sed -n 's/.*Total \(SCF\|DFT\) energy = *\(-[0-9]*\.[0-9]\{7\}\).*/\1 \2/p' "$dir/out.txt"
}

hearth=(--preload "$tree/lib/libhearth-mpi.so" --env HEARTH_BYPASS=never)
want=$(energies) || exit 1
[ "$(wc -l <<<"$want")" = 2 ] || { echo "FAIL no energies without Hearth" && exit 1; }
echo "without Hearth: $(paste -sd ' ' <<<"$want")"

check() { # name, options
    local what=$1 got gets
    shift
    got=$(energies "${hearth[@]}" --env HEARTH_REPORT="$dir/report.json" "$@")
    gets=$(/usr/bin/python3 -c 'import json, sys; print(sum(w["gets"] for w in json.load(open(sys.argv[1]))["windows"]))' "$dir/report.json")
    if [ "$got" = "$want" ] && [ "${gets:-0}" -gt 1000 ]; then
        echo "ok $what: $gets gets went through Hearth"
    else
        echo "FAIL $what: $(paste -sd ' ' <<<"$got"), ${gets:-no} gets"
        failed=1
    fi
}

check 'shared memory' --env HEARTH_MODE=transparent
check 'a tiny cache' --env HEARTH_MODE=transparent --env HEARTH_CACHE_SIZE=4k --env HEARTH_ADAPT=off
check 'TCP' --env HEARTH_MODE=transparent --tcp
check 'messages by Hearth' --env HEARTH_MODE=transparent --env HEARTH_MATCH=on
check 'messages by Hearth through MPI' --env HEARTH_MODE=transparent --env HEARTH_MATCH=on --env HEARTH_MATCH_NODE=off
exit $failed
