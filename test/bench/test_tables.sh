#!/usr/bin/env bash
# Runs the scripts of the benches on made-up programs (made_up.py), and checks that their reports and the page of
# results have all numbers and plots.
#   test_tables.sh MPI TREE       once: yes; tier: full; timeout: 1800
# Nothing is launched, so the MPI makes no difference. The simulations are left out: test/sim runs them.
set -uo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
export MADE_UP=$dir/seeds BENCH_SECONDS=100000 # time for all rounds

. "$folder/../tools/check_files.sh"

# ---- the programs ----

mkdir -p "$dir/test/cluster" "$MADE_UP"
cp -r "$folder/../../bench" "$folder/../../packaging" "$dir/"
. "$dir/bench/common.sh" # sets PYTHON, and here
{ echo "#!/usr/bin/env $PYTHON" && sed 1d "$folder/made_up.py"; } >"$dir/made_up.py"
printf '#!/bin/sh\nshift 2\nCLUSTER_KIND=real exec "$@"\n' >"$dir/test/cluster/hosts.sh"
chmod +x "$dir/made_up.py" "$dir/test/cluster/hosts.sh"
ln -s "$dir/made_up.py" "$dir/test/launch.sh"
for mpi in openmpi mpich; do
    mkdir -p "$dir/build/$mpi"/{bench,bin}
    for program in bench/{clampi_{hit,parts,access,time,victims,stream},modes_{loop,count,step},match_{mpi,engine,random,cost,stencil}} \
        bench/armci_{ops,patch,busy,counter,malloc}{,_stock} bench/{armci_link,dft_stock,overhead,reuse.so} \
        bench/vgasnet_{hit,small,fetch,walk,share,ex} bin/{lcc,barnes-hut,dft,dgemm,dht,halo,stencil}; do
        ln -s "$dir/made_up.py" "$dir/build/$mpi/$program"
    done
done

# ---- each bench ----

scripts=(clampi/{clampi,modes,lcc,barnes_hut} match/{match,halo} armci/{armci,dft} vgasnet/{vgasnet,dgemm,pgas} overhead)
for script in "${scripts[@]}"; do # all at once: they mostly start processes
    "$dir/bench/$script.sh" --quick >"$dir/$(basename "$script").log" 2>&1 &
    pids+=($!)
done
for i in "${!scripts[@]}"; do
    name=$(basename "${scripts[$i]}")
    results=$dir/build/results/${name//_/-}
    check "${scripts[$i]}.sh" wait "${pids[$i]}" || tail -n 5 "$dir/$name.log"
    check "$name: every number is there" eval '! grep -nwE "missing|nan|-nan|inf|None" "$results/results.md"'
    check "$name: no error" eval '[ ! -e "$results/errors.log" ] || ! grep -n Traceback "$results/errors.log"'
    check "$name: no plot is empty" eval '! grep "a plot has nothing to show" "$dir/$name.log"'
done

# ---- the page ----

unset BENCH_SECONDS
check "results.sh" "$dir/bench/results.sh" "$dir/build/results" >"$dir/results.log" 2>&1 || cat "$dir/results.log"
# Simulations are not run here, a quick run leaves out some sizes, and test_windows.sh covers the windows.
left_out='simulated|"Windows"|"CLaMPI","1[78]"|"ARMCI","9"|tasks of 512 points|4 KB|four times that'
check "every claim has its number" eval '! grep "not run" "$dir/build/results/results.csv" | grep -vE "$left_out"'
check "claims" [ "$(wc -l <"$dir/build/results/results.csv")" -gt 200 ]
check "no bad number" eval '! grep -nwiE "nan|inf|None" "$dir/build/results/results.csv"'
if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
    plots=$(PYTHONPATH=$dir/bench "$PYTHON" -B -c '
from report.claims import PAPERS
print(*(plot for paper in PAPERS for figure in paper.figures for plot in figure.plot if not plot.startswith("sim/")), sep="\n")')
    for plot in $plots; do
        check "$plot" test -s "$dir/build/results/$plot"
    done
fi
exit $failed
