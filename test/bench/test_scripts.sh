#!/usr/bin/env bash
# Runs the scripts of the benches, from start to report, with no time for any job: each writes a report without
# numbers.
#   test_scripts.sh MPI TREE       once: yes; timeout: 120; coverage: no
# Programs and virtual hosts are replaced by stubs: nothing is launched.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

mkdir -p "$dir/test/cluster" "$dir"/build/openmpi/{bench,bin,sim}
cp -r "$here/../bench" "$here/../packaging" "$dir/"
printf '#!/bin/sh\nshift 2\nCLUSTER_KIND=none exec "$@"\n' >"$dir/test/cluster/hosts.sh"
printf '#!/bin/sh\nexit 1\n' >"$dir/test/launch.sh"
for program in bench/{clampi_hit,clampi_parts,modes_loop,match_mpi,armci_ops,vgasnet_hit} bin/{lcc,barnes-hut,dft,dgemm,dht,halo,stencil} sim/sim_flow bench/{overhead,report_calls} bench/{windows_ops,osu_cells,osu_start}; do
    printf '#!/bin/sh\n' >"$dir/build/openmpi/$program"
done
chmod +x "$dir"/test/*.sh "$dir"/test/cluster/*.sh "$dir"/build/openmpi/*/*

scripts=(clampi/{clampi,modes,lcc,barnes_hut} match/{match,halo} armci/{armci,dft} vgasnet/{vgasnet,dgemm,pgas} windows/windows osu/osu sim overhead report_cost)
# One of each kind: of the calls of a library, of a program, and by itself.
[ "${HEARTH_TEST_TIER:-}" != quick ] || scripts=(clampi/{modes,lcc} match/match armci/armci vgasnet/{vgasnet,pgas} windows/windows osu/osu overhead)
for script in "${scripts[@]}"; do
    name=$(basename "$script")
    expected=0
    [ "$name" != modes ] || expected=1 # counts measurements that it has no time for as failed
    BENCH_SECONDS=-1 "$dir/bench/$script.sh" --quick >"$dir/log" 2>&1
    status=$?
    if [ $status = $expected ] && grep -q '^# ' "$dir/build/results/${name//_/-}/results.md" && ! grep -E 'Traceback|: line [0-9]+:' "$dir/log"; then
        echo "ok $script.sh"
    else
        echo "FAIL $script.sh: exit status $status, and its report:"
        sed 's/^/    | /' "$dir/log" "$dir/build/results/${name//_/-}/"{errors.log,results.md} 2>/dev/null | tail -n 40
        failed=1
    fi
done

# A python3 in PATH that does not see the system's packages must not leave the plots out.
mkdir "$dir/path"
printf '#!/bin/sh\nexit 1\n' >"$dir/path/python3"
chmod +x "$dir/path/python3"
/usr/bin/python3 -c 'import matplotlib' 2>/dev/null && expected=/usr/bin/python3 || expected=python3
chosen=$(unset PYTHON && PATH=$dir/path:$PATH bash -c '. "$0/bench/common.sh" && echo "$PYTHON"' "$dir")
[ "$chosen" = $expected ] && echo "ok the interpreter" || { echo "FAIL the interpreter is '$chosen', not $expected" && failed=1; }
chosen=$(PYTHON=python9 bash -c '. "$0/bench/common.sh" && echo "$PYTHON"' "$dir")
[ "$chosen" = python9 ] && echo "ok PYTHON" || { echo "FAIL PYTHON is not used, but '$chosen'" && failed=1; }

BUILD=$dir/build "$dir/bench/results.sh" >"$dir/log" 2>&1 || { echo "FAIL results.sh" && cat "$dir/log" && failed=1; }
exit $failed
