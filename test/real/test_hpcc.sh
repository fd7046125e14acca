#!/usr/bin/env bash
# Runs Debian's HPC Challenge, an unmodified program with many small and large messages: its results and checks are
# the same with Hearth's messages as without.   test_hpcc.sh MPI TREE      tier: full; alone: yes; timeout: 600
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ "$mpi" = openmpi ] || { echo "Debian's hpcc is built for Open MPI" && exit 77; }
command -v hpcc >/dev/null || { echo "hpcc is not installed" && exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# With a lookahead, or several threads in BLAS, messages and threads divide the updates by the time at which they come, and norms are
# rounded differently in each run where BLAS uses AVX-512.
export OPENBLAS_NUM_THREADS=1
input() { # rows of the process grid, by 2 columns
    cat <<I
HPLinpack benchmark input file
small enough for a test
HPL.out output file name (if any)
8       device out (6=stdout,7=stderr,file)
1       # of problems sizes (N)
500     Ns
1       # of NBs
32      NBs
0       PMAP process mapping (0=Row-,1=Column-major)
1       # of process grids (P x Q)
$1      Ps
2       Qs
16.0    threshold
1       # of panel fact
2       PFACTs (0=left, 1=Crout, 2=Right)
1       # of recursive stopping criterium
4       NBMINs (>= 1)
1       # of panels in recursion
2       NDIVs
1       # of recursive panel fact.
1       RFACTs (0=left, 1=Crout, 2=Right)
1       # of broadcast
1       BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1       # of lookahead depth
0       DEPTHs (>=0)
2       SWAP (0=bin-exch,1=long,2=mix)
64      swapping threshold
0       L1 in (0=transposed,1=no-transposed) form
0       U  in (0=transposed,1=no-transposed) form
1       Equilibration (0=no,1=yes)
8       memory alignment in double (> 0)
##### a line that separates
1       Number of additional problem sizes for PTRANS
300     values of N
1       number of additional blocking sizes for PTRANS
9       values of NB
I
}

# The results that do not depend on time: checks passed, errors found, norms and residuals.
values() {
    sed -nE 's/ +/ /g
        s/^WALL (.*) [0-9.]+ (PASSED|FAILED).*/\1 \2/p
        /^Found [0-9]+ errors|tests completed and|\|\|Ax-b\|\||^Node\(s\) with error|Solution Validates/p
        /^(Success|PTRANS_residual|HPL_(RnormI|Anorm1|AnormI|Xnorm1|XnormI)|MPIRandomAccess_(LCG_)?Errors)=/p
        /^MPIFFT_maxErr=|^max\(\|x-x0\|\)/p' "$dir/hpccoutf.txt"
}

run() { # ranks, options of launch.sh
    rm -f "$dir/hpccoutf.txt"
    input $(($1 / 2)) >"$dir/hpccinf.txt"
    (cd "$dir" && "$here/launch.sh" openmpi "$1" --timeout 100 "${@:2}" hpcc >out.txt 2>&1) ||
        { tail -n 20 "$dir/out.txt" && return 1; }
    values
}

check() { # name, ranks, options
    local got
    got=$(run "$2" --preload "$tree/lib/libhearth-mpi.so" --env HEARTH_MATCH=on "${@:3}")
    if [ "$got" = "$want" ]; then
        echo "ok $1: $(wc -l <<<"$got") values are the same"
    else
        echo "FAIL $1:"
        diff <(echo "$want") <(echo "$got")
        failed=1
    fi
}

for ranks in 2 4; do
    want=$(run $ranks) || { echo "FAIL without Hearth: $want" && exit 1; }
    grep -q '^Success=1' <<<"$want" || { echo "FAIL without Hearth: no success" && exit 1; }
    check "$ranks ranks" $ranks
    check "$ranks ranks, through MPI" $ranks --env HEARTH_MATCH_NODE=off
done
exit $failed
