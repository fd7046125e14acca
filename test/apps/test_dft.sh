#!/usr/bin/env bash
# tier: full; timeout: 600
# Tests the exchange-correlation matrix on Global Arrays: the density integrates to the
# number of electrons; the matrix equals a serial build, on any number of ranks and nodes and on ARMCI-MPI; a lost
# accumulate is detected; the energies of one atom match the analytic values.
#   test_dft.sh MPI TREE
set -uo pipefail
mpi=$1 tree=$2 failed=0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[ -x "$tree/bin/dft" ] || { echo "no dft: Global Arrays are not installed; see packaging/setup.sh test" && exit 77; }
cc=$("$here/../packaging/mpis.sh" "$mpi") || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

. "$here/tools/check_files.sh"

run_program() { # PROGRAM NAME RANKS [OPTION OF launch.sh]... -- [OPTION]...: writes exit status and output to $dir/NAME.*
    local program=$1 name=$2 ranks=$3 launch=()
    shift 3
    while [ "$1" != -- ]; do launch+=("$1") && shift; done
    shift
    "$here/launch.sh" "$mpi" "$ranks" ${launch[@]+"${launch[@]}"} --timeout 100 "$program" --json "$dir/$name.json" --matrix "$dir/$name.txt" \
        "$@" >"$dir/$name.out" 2>&1
    echo $? >"$dir/$name.status"
}

run() {
    run_program "$tree/bin/dft" "$@"
}

value() { # NAME FIELD
    sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\",]*\).*/\1/p" "$dir/$1.json" | head -n 1
}

ended() { # NAME STATUS
    [ "$(cat "$dir/$1.status")" = "$2" ]
}

near() { # NUMBER NUMBER MOST
    awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= most && d >= -most) }'
}

counted() { # NAME: the number of electrons is right to 1e-6
    near "$(value "$1" integral)" "$(value "$1" electrons)" 1e-6
}

same() { # NAME NAME: the matrices agree to 1e-11, and not all elements are small
    [ -s "$dir/$1.txt" ] && paste -d ' ' "$dir/$1.txt" "$dir/$2.txt" | awk '{
        n = NF / 2
        if (n != int(n)) wrong = 1
        for (i = 1; i <= n; i++) { d = $i - $(n + i); if (d > 1e-11 || d < -1e-11) wrong = 1; if ($i < -1) large = 1 }
    } END { exit wrong || !large }'
}

says() { # NAME WORDS: the program prints exactly one line, with these words
    [ "$(grep -c '^dft: ' "$dir/$1.out")" = 1 ] && grep -q "^dft: .*$2" "$dir/$1.out"
}

grid=(--radial 50 --angular 20)
some=(--atoms 4 "${grid[@]}" --verify)
run one 1 -- "${some[@]}" --profile --rounds 3
run two 2 -- "${some[@]}"
run four 4 -- "${some[@]}"
run nodes 2 --env HEARTH_NODE_RANKS=1 -- "${some[@]}"
run nodes4 4 --env HEARTH_NODE_RANKS=1 -- "${some[@]}"
run nodes22 4 --env HEARTH_NODE_RANKS=2 -- "${some[@]}"
run mpi 2 --env HEARTH_NODE_RANKS=1 --env HEARTH_NET=mpi -- "${some[@]}"
run rows 2 --env HEARTH_NODE_RANKS=1 --env HEARTH_ARMCI_STRIDED=rows -- "${some[@]}"
run lists 2 --env HEARTH_NODE_RANKS=1 --env HEARTH_ARMCI_STRIDED=lists -- "${some[@]}"
run small 3 --env HEARTH_NODE_RANKS=1 --env HEARTH_BUFFERS=1 --env HEARTH_BUFFER_SIZE=512 -- "${some[@]}" --points 1000
for name in one two four nodes nodes4 nodes22 mpi rows lists small; do
    check "$name: the matrix equals a serial build" ended $name 0
    check "$name: the density integrates to the electrons" counted $name
    check "$name: the same matrix as on one rank" same $name one
done
check 'other ranks were asked' awk -v n="$(value nodes4 remote_gets)" 'BEGIN { exit !(n > 100) }'
check 'all patches of silica have 2 to 4 KB' [ "$(awk '$1 ~ /^[0-9]+$/ { print $1 + 0 }' "$dir/one.out" | paste -sd ' ' -)" = '16 4096' ]
check 'and as many are added as fetched' [ "$(value nodes4 gets)" = "$(value nodes4 accs)" ]
if [ -x "$tree/bench/dft_stock" ]; then
    # windows that MPICH 4.0 allocates are wrong between processes of one node
    stock=()
    [ "$mpi" != mpich ] || stock=(--env ARMCI_USE_WIN_ALLOCATE=0)
    run_program "$tree/bench/dft_stock" stock 2 ${stock[@]+"${stock[@]}"} -- "${some[@]}"
    check 'ARMCI-MPI: the same matrix' same stock one
fi

run plain 2 -- --rounds 1
check 'by default the electrons are counted to 1e-6' counted plain
run coarse 2 -- --atoms 4 --radial 10 --angular 5
check 'too coarse a grid is found' ended coarse 1
check 'and it is said' says coarse 'not to 44 electrons'

# An ARMCI that drops some accumulates.
cat >"$dir/drop.c" <<'N'
extern int PARMCI_AccS(int, void *, void *, int *, void *, int *, int *, int, int);
extern int PARMCI_NbAccS(int, void *, void *, int *, void *, int *, int *, int, int, void *);
static int calls;
int ARMCI_AccS(int t, void *f, void *s, int *ss, void *d, int *ds, int *c, int n, int p) {
    return ++calls % 100 ? PARMCI_AccS(t, f, s, ss, d, ds, c, n, p) : 0;
}
int ARMCI_NbAccS(int t, void *f, void *s, int *ss, void *d, int *ds, int *c, int n, int p, void *h) {
    return ++calls % 100 ? PARMCI_NbAccS(t, f, s, ss, d, ds, c, n, p, h) : 0;
}
N
"$cc" -O1 -shared -fPIC "$dir/drop.c" -o "$dir/drop.so" || exit 1
run lost 2 --preload "$dir/drop.so" -- --atoms 4 "${grid[@]}"
check 'a lost accumulate is found by the trace' ended lost 1
check 'and said' says lost 'the matrix is wrong: the trace'
run lost 2 --preload "$dir/drop.so" -- --atoms 4 "${grid[@]}" --verify
check 'and by the serial build' grep -q '^dft: the matrix is wrong: it differs from a serial build' "$dir/lost.out"

# Two electrons in exp(-1.7 r): -3/4 (3/pi)^(1/3) times the integral of rho^(4/3) is -0.9112.
run helium 1 -- --molecule chain --atoms 1
check 'the exchange energy of helium' near "$(value helium exchange)" -0.9112 0.002
run cube 3 -- --molecule cube --atoms 8 --element H --distance 2.5 "${grid[@]}" --verify
check 'a cube of hydrogen' ended cube 0
run lone 4 --env HEARTH_NODE_RANKS=1 -- --molecule chain --atoms 1 --element Ar --verify
check 'more ranks than atoms' ended lone 0
check 'of which one is counted right' counted lone

printf '3\nwater\nO 0 0 0.1173\nH 0 0.7572 -0.4692\nh 0 -0.7572 -0.4692\n' >"$dir/water.xyz"
run water 2 --env HEARTH_NODE_RANKS=1 -- --molecule "$dir/water.xyz" --angular 30 --verify
check 'water from a file' ended water 0
check 'its electrons' [ "$(value water electrons)" = 10 ]
check 'patches of several sizes' [ "$(sed -n 's/.*"get_bins": *//p' "$dir/water.json" | grep -oE '[1-9][0-9]*' | wc -l)" -ge 3 ]
printf '2\n\nO 0 0 0\nO 0 0 0.1\n' >"$dir/close.xyz"
printf '2\n\nO 0 0 0\n' >"$dir/short.xyz"
printf '1\n\nUuo 0 0 0\n' >"$dir/unknown.xyz"
printf 'one\n' >"$dir/count.xyz"

bad=0
for option in '--atoms x' '--atoms 0' '--angular 65' '--points 0' '--rounds 65' '--element Xx' '--tolerance -1' '--unknown' '--json /nowhere/a' \
    '--matrix /nowhere/a' 'word' '--molecule no-such-file' "--molecule $dir/close.xyz" "--molecule $dir/short.xyz" \
    "--molecule $dir/unknown.xyz" "--molecule $dir/count.xyz"; do
    # shellcheck disable=SC2086
    run bad 1 -- $option
    ended bad 2 && says bad . || { echo "not refused in one line: $option" && cat "$dir/bad.out" && bad=1; }
done
check 'bad options are refused in one line' [ $bad = 0 ]
run gone 3 -- --molecule no-such-file
check 'by all ranks together' ended gone 2
check 'in one line' says gone 'No such file'
"$here/launch.sh" "$mpi" 2 "$tree/bin/dft" --help >"$dir/help.out" 2>&1
check 'help is printed once' [ "$(grep -c -- --molecule "$dir/help.out")" = 1 ]
[ $failed = 0 ] || tail -n 20 "$dir"/*.out
exit $failed
